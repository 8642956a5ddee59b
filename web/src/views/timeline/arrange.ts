/* SPDX-License-Identifier: Apache-2.0 */
/* Pin, hide, reorder: kept in the address as lists of track ids. */
import { go, query } from '../../data/place';
import { movedOrder, type Band } from '../../model/layout';
import type { TimelineState } from './state';

function listed(key: 'pin' | 'hide'): string[] {
  return (query.value[key] ?? '').split(',').filter(Boolean);
}

export function togglePin(id: string): void {
  const pins = listed('pin');
  go({ pin: (pins.includes(id) ? pins.filter((one) => one !== id) : [...pins, id]).join(',') || null }, 'replace');
}

export function hideTrack(id: string): void {
  go(
    {
      hide: [...listed('hide').filter((one) => one !== id), id].join(','),
      pin:
        listed('pin')
          .filter((one) => one !== id)
          .join(',') || null,
    },
    'replace',
  );
}

export function showHidden(): void {
  go({ hide: null }, 'replace');
}

/* A host is no track of its own: it narrows by its name. */
export function onlyThis(band: Band): void {
  go(
    band.node.kind === 'host' ? { host: band.node.name } : { track: band.node.id, start_ps: null, end_ps: null },
    'push',
  );
}

/* The bands that stand beside this one, in their order. */
export function siblingsOf(state: TimelineState, band: Band): Band[] {
  const { bands } = state.layout.value;
  if (band.pinned) return bands.filter((one) => one.pinned);
  const family =
    [...state.layout.value.bands].find((one) => one.node.children.includes(band.node))?.node.children ?? state.roots;
  return bands.filter((one) => !one.pinned && family.includes(one.node));
}

export function moveTrack(state: TimelineState, band: Band, to: number): void {
  const ids = siblingsOf(state, band).map((one) => one.node.id);
  if (band.pinned) return go({ pin: movedOrder([], ids, band.node.id, to).join(',') }, 'replace');
  go({ tracks: movedOrder(state.arrangement.value.order, ids, band.node.id, to).join(',') }, 'replace');
}
