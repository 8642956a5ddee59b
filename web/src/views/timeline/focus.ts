/* SPDX-License-Identifier: Apache-2.0 */
/* The focus follows the address. It is asked for as soon as the address names it, before anything is
 * drawn; the slice and the pane that tells of it change together. */
import { batch, effect } from '@preact/signals';
import { word } from '../../data/place';
import { loadJson } from '../../data/resource';
import type { SliceDetails } from '../../data/types';
import type { TimelineState } from './state';

const sliceId = word('slice');

export const loadSlice = (state: TimelineState, id: string, abort?: AbortSignal): Promise<SliceDetails> =>
  loadJson('api/slice', { run: state.run.id, id }, abort);

function show(state: TimelineState, details: SliceDetails | null): void {
  const { focus, tab, listed } = state;
  if (focus.peek() === details) return;
  batch(() => {
    focus.value = details;
    tab.value = details === null ? 'range' : listed.peek() > 0 && tab.peek() === 'slices' ? 'slices' : 'slice';
    if (details) state.reveal(details);
  });
}

export function followFocus(state: TimelineState): () => void {
  return effect(() => {
    const id = sliceId.value;
    if (!id) return show(state, null);
    if (state.focus.peek()?.id === id) return;
    const abort = new AbortController();
    loadSlice(state, id, abort.signal)
      .then((details) => abort.signal.aborted || show(state, details))
      .catch(() => undefined);
    return () => abort.abort();
  });
}
