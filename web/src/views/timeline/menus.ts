/* SPDX-License-Identifier: Apache-2.0 */
/* What a right click (or a long press, or the menu key) offers: on a slice, on nothing, on a name. */
import { LOCAL_TRACK } from '../../data/local_track';
import { go, query } from '../../data/place';
import type { Slice } from '../../data/types';
import type { Band } from '../../model/layout';
import type { Mark } from '../../model/marks';
import { endOf, startOf } from '../../model/viewport';
import { openMenu, type MenuItem } from '../../ui/context_menu';
import { act } from '../../ui/keys';
import { copyText } from '../../ui/text';
import { openInPerfetto } from '../shell/perfetto_button';
import { hideTrack, moveTrack, onlyThis, showHidden, siblingsOf, togglePin } from './arrange';
import { chooseSlice, hitAt, sliceOf, type Hit } from './hit';
import type { TimelineState } from './state';
import { spanOfSlice } from './window_pane';

function general(state: TimelineState): MenuItem[] {
  const span = state.range.value ?? { start: startOf(state.viewport.value), end: endOf(state.viewport.value) };
  const items: MenuItem[] = [
    {
      words: state.range.value ? 'Keep the range as a mark' : 'Keep the window as a mark',
      hint: 'shift M',
      run: () => state.keepMark(span),
    },
    {
      words: state.range.value ? 'Range in Perfetto' : 'Window in Perfetto',
      run: () => openInPerfetto(state.run, span),
    },
    { words: 'Copy link', hint: 'Y', run: () => void act('copy-link') },
  ];
  if (state.arrangement.value.hidden.length > 0)
    items.push({ words: `Show ${state.arrangement.value.hidden.length} hidden tracks`, run: showHidden });
  return items;
}

function ofSlice(state: TimelineState, hit: Hit): MenuItem[] {
  const exact = sliceOf(state, hit);
  const then = (use: (slice: Slice) => void) => () => void exact.then((slice) => slice && use(slice));
  return [
    { words: 'Focus', run: then(chooseSlice) },
    { words: 'Zoom to it', hint: 'F', run: then((slice) => state.showSpan(`slice ${slice.id}`, spanOfSlice(slice))) },
    {
      words: 'Range = this',
      hint: 'M',
      run: then((slice) => go({ start_ps: String(slice.start_ps), end_ps: String(spanOfSlice(slice).end) })),
    },
    { words: 'Search this name', run: () => go({ find: hit.name }, 'replace') },
    { words: 'Only this name', run: () => go({ name: hit.name }, 'push') },
    { words: 'Copy name', run: () => void copyText(hit.name) },
  ];
}

export function canvasMenu(state: TimelineState, x: number, y: number, clientX: number, clientY: number): void {
  const { hit } = hitAt(state, x, y);
  openMenu(hit ? 'Slice' : 'Timeline', clientX, clientY, [...(hit ? ofSlice(state, hit) : []), ...general(state)]);
}

export function trackMenu(state: TimelineState, band: Band, clientX: number, clientY: number): void {
  const place = band.position - 1;
  if (band.node.id === LOCAL_TRACK)
    return openMenu(band.node.name, clientX, clientY, [
      { words: 'Take the track away', run: () => go({ debug: null }, 'replace') },
      { words: 'Its query', run: () => go({ view: 'sql', sql: query.value.debug ?? null }, 'push') },
    ]);
  const items: MenuItem[] = [
    { words: band.pinned ? 'Unpin' : 'Pin to the top', run: () => togglePin(band.node.id) },
    { words: 'Hide', run: () => hideTrack(band.node.id) },
    { words: 'Only this', run: () => onlyThis(band) },
  ];
  if (place > 0) items.push({ words: 'Move up', run: () => moveTrack(state, band, place - 1) });
  if (place < siblingsOf(state, band).length - 1)
    items.push({ words: 'Move down', run: () => moveTrack(state, band, place + 1) });
  items.push({ words: 'Copy name', run: () => void copyText(band.node.name) });
  if (state.arrangement.value.hidden.length > 0)
    items.push({ words: `Show ${state.arrangement.value.hidden.length} hidden tracks`, run: showHidden });
  openMenu(band.node.name, clientX, clientY, items);
}

export function markMenu(state: TimelineState, mark: Mark, clientX: number, clientY: number, rename: () => void): void {
  openMenu(`Mark ${mark.text}`, clientX, clientY, [
    { words: 'Range = this', run: () => go({ start_ps: String(mark.start), end_ps: String(mark.end) }) },
    { words: 'Zoom to it', run: () => state.showSpan(`mark ${mark.start}`, mark, 0.02) },
    { words: 'Rename', run: rename },
    {
      words: 'Remove',
      run: () => state.setMarks(state.marks.value.filter((one) => one.start !== mark.start || one.end !== mark.end)),
    },
  ]);
}
