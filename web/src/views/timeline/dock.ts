/* SPDX-License-Identifier: Apache-2.0 */
/* Details below the tracks, or at their right where the screen is wide: for this page, not kept. */
import { computed, signal } from '@preact/signals';
import { pageWidth } from '../../ui/table';

export const DOCK_PAGE_PIXELS = 1920;
export const DOCK_PIXELS = 480;

const asked = signal(false);

export const docked = computed(() => asked.value && pageWidth.value >= DOCK_PAGE_PIXELS);

/* False where there is no room. */
export function toggleDock(): boolean {
  if (pageWidth.value < DOCK_PAGE_PIXELS) return false;
  asked.value = !asked.value;
  return true;
}
