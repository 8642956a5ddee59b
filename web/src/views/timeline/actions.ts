/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys do on the timeline. */
import { go, query } from '../../data/place';
import { loadJson } from '../../data/resource';
import type { Slice, SliceList, StepRow } from '../../data/types';
import type { Span } from '../../model/address';
import { COLOURING_WORDS, COLOURINGS } from '../../model/colouring';
import { toBig } from '../../model/numbers';
import { endOf, panned, startOf, timeAt, viewportOf, zoomed } from '../../model/viewport';
import type { Actions } from '../../ui/keys';
import { say } from '../../ui/said';
import { DOCK_PAGE_PIXELS, toggleDock } from './dock';
import { idleBeside, idleNode } from './idle';
import { alongPath, isPathShown } from './path_row';
import { saveTimeline } from './picture';
import { ticksOf } from './ruler';
import { spanOfSlice } from './window_pane';
import type { TimelineState } from './state';

const ZOOM_STEP = 1.5;
/* While a key is held: some thirty times a second. */
const ZOOM_HELD = 1.07;
const PAN_HELD = 1 / 40;
const NEIGHBOURS_MAX = 400;

function pointer(state: TimelineState): number {
  const hover = state.hover.value;
  return hover ? hover.x / Math.max(1, state.size.value.width) : 0.5;
}

async function slicesOf(state: TimelineState, params: Record<string, string | bigint | number>): Promise<Slice[]> {
  const reply = await loadJson<SliceList>('api/slices', { run: state.run.id, limit: NEIGHBOURS_MAX, ...params });
  return reply.rows;
}

/* The slice nearest the centre of the window: where the arrows begin. */
async function nearestCentre(state: TimelineState): Promise<Slice | null> {
  const middle = timeAt(state.viewport.value, 0.5);
  const band = state.visibleBands().find((one) => one.depthCount > 0);
  if (!band) return null;
  const reach = BigInt(Math.round(state.viewport.value.span / 8));
  const slices = await slicesOf(state, { track: band.node.id, start_ps: middle - reach, end_ps: middle + reach });
  const distance = (slice: Slice) => Math.abs(Number(toBig(slice.start_ps) + toBig(slice.dur_ps) / 2n - middle));
  return slices.filter((slice) => slice.depth === 0).sort((a, b) => distance(a) - distance(b))[0] ?? slices[0] ?? null;
}

/* Before or after on the same row; the window that is asked grows until something is there. */
async function neighbour(
  state: TimelineState,
  from: Slice,
  direction: 1 | -1,
  name: string | null,
): Promise<Slice | null> {
  const start = toBig(from.start_ps);
  const end = start + toBig(from.dur_ps);
  for (let reach = BigInt(Math.round(state.viewport.value.span / 4)) + 1n; ; reach *= 8n) {
    const low = direction > 0 ? end : start - reach;
    const high = direction > 0 ? end + reach : start;
    const rows = await slicesOf(state, {
      track: from.track,
      start_ps: low,
      end_ps: high + 1n,
      ...(name === null ? {} : { name }),
    });
    const beside = rows.filter((slice) => {
      const at = toBig(slice.start_ps);
      return (
        slice.id !== from.id &&
        (name !== null || slice.depth === from.depth) &&
        (direction > 0 ? at >= start : at <= start)
      );
    });
    const next = beside.sort(
      (a, b) => (Number(toBig(a.start_ps) - toBig(b.start_ps)) || a.depth - b.depth) * direction,
    )[0];
    if (next) return next;
    if (low < state.start && high > state.end) return null;
    if ((direction > 0 && high > state.end) || (direction < 0 && low < state.start)) return null;
  }
}

async function child(state: TimelineState, from: Slice): Promise<Slice | null> {
  const span = spanOfSlice(from);
  const rows = await slicesOf(state, { track: from.track, start_ps: span.start, end_ps: span.end });
  return rows.find((slice) => slice.depth === from.depth + 1 && toBig(slice.start_ps) >= span.start) ?? null;
}

/* The step whose middle comes next after that of the window. */
function stepBeside(state: TimelineState, direction: 1 | -1): StepRow | null {
  const middle = timeAt(state.goal, 0.5);
  const slack = BigInt(Math.round(state.viewport.value.span / 100));
  const centre = (step: StepRow) => toBig(step.start_ps) + toBig(step.dur_ps) / 2n;
  const steps = [...state.steps.value].sort((a, b) => (centre(a) < centre(b) ? -1 : 1));
  return (
    (direction > 0
      ? steps.find((step) => centre(step) > middle + slack)
      : steps.findLast((step) => centre(step) < middle - slack)) ?? null
  );
}

/* The gap becomes the range, so that its table tells what else went on; the window keeps its width. */
function showGap(state: TimelineState, gap: Span): void {
  go({ start_ps: String(gap.start), end_ps: String(gap.end) }, 'replace');
  const half = BigInt(Math.round(Math.max(state.viewport.value.span, Number(gap.end - gap.start) * 1.2) / 2));
  const middle = (gap.start + gap.end) / 2n;
  state.glide(viewportOf(middle - half, middle + half));
}

/* What the view has at hand. */
export interface AtHand {
  rows: () => readonly Slice[]; // hits of the search
}

/* Where the window goes and what its colours tell. One press glides; held, the key moves on evenly. */
export function moveActions(state: TimelineState): Actions {
  const zoom = (direction: 1 | -1) => (event: KeyboardEvent | null) => {
    if (event?.repeat) state.zoom(ZOOM_HELD ** direction, pointer(state));
    else state.glide(zoomed(state.goal, ZOOM_STEP ** direction, pointer(state), state.spanMax));
  };
  const pan = (byWidths: number) => (event: KeyboardEvent | null) => {
    if (event?.repeat) state.pan(Math.sign(byWidths) * PAN_HELD * (Math.abs(byWidths) > 0.2 ? 3 : 1));
    else state.glide(panned(state.goal, byWidths));
  };
  return {
    'zoom-in': zoom(-1),
    'zoom-out': zoom(1),
    'pan-left': pan(-1 / 8),
    'pan-right': pan(1 / 8),
    'pan-left-half': pan(-1 / 2),
    'pan-right-half': pan(1 / 2),
    begin: () =>
      state.set({ ...state.viewport.value, base: state.reach.start, offset: -state.viewport.value.span * 0.02 }),
    end: () => state.set({ ...state.viewport.value, base: state.reach.end, offset: -state.viewport.value.span * 0.98 }),
    'zoom-all': () => state.showSpan('all', state.reach, 0.01),
    colour: () => {
      const next = COLOURINGS[(COLOURINGS.indexOf(state.colouring.value) + 1) % COLOURINGS.length]!;
      go({ colour: next === 'kind' ? null : next }, 'replace');
      say(`Colour tells the ${COLOURING_WORDS[next]}.`);
    },
    path: () => go({ path: isPathShown(state) ? 'off' : 'on', piece: null }, 'replace'),
    legend: () => go({ legend: query.value.legend === 'off' ? null : 'off' }, 'replace'),
  };
}

export function timelineActions(state: TimelineState, atHand: AtHand): Actions {
  const focusOn = (slice: Slice | null): void => {
    if (slice) go({ slice: slice.id, piece: null }, 'replace');
  };
  const fromFocus = (next: (from: Slice) => Promise<Slice | null>) => () => {
    const focus = state.focus.value;
    void (focus ? next(focus) : nearestCentre(state)).then(focusOn);
  };
  const toHit = (direction: 1 | -1) => () => {
    const rows = atHand.rows();
    if (rows.length === 0) return false;
    const at = rows.findIndex((row) => row.id === query.value.slice);
    focusOn(rows[(at + direction + rows.length + (at < 0 && direction < 0 ? 1 : 0)) % rows.length] ?? null);
    return true;
  };
  const toStep = (direction: 1 | -1) => () => {
    const step = stepBeside(state, direction);
    if (!step) return;
    const span = spanOfSlice(step);
    const margin = (span.end - span.start) / 20n;
    state.glide(viewportOf(span.start - margin, span.end + margin));
  };
  const flow = (back: boolean) => () => {
    if (alongPath(state, back ? -1 : 1)) return;
    const focus = state.focus.value;
    const found = focus?.flows?.find((one) => (back ? one.to.slice : one.from.slice) === focus.id);
    const other = back ? found?.from.slice : found?.to.slice;
    if (other) go({ slice: other, piece: null }, 'replace');
  };
  const toIdle = (direction: 1 | -1) => () => {
    const node = idleNode(state);
    if (!node) return;
    void idleBeside(state, node, direction).then((gap) =>
      gap
        ? showGap(state, gap)
        : say(`No idle gap above 1 % of the window ${direction > 0 ? 'after' : 'before'} this in ${node.name}.`),
    );
  };

  return {
    ...moveActions(state),
    'scroll-up': () =>
      void (state.scrollTop.value = Math.max(0, state.scrollTop.value - state.size.value.height * 0.9)),
    'scroll-down': () => void (state.scrollTop.value += state.size.value.height * 0.9),
    'zoom-focus': () => (state.focus.value ? state.showSpan('focus', spanOfSlice(state.focus.value)) : undefined),
    'zoom-range': () => (state.range.value ? state.showSpan('range', state.range.value, 0.02) : undefined),
    'slice-before': fromFocus((from) => neighbour(state, from, -1, null)),
    'slice-after': fromFocus((from) => neighbour(state, from, 1, null)),
    'slice-parent': fromFocus(
      async () =>
        state.focus.value?.parents?.find((one) => one.depth === state.focus.value!.depth - 1) ??
        state.focus.value?.parents?.[0] ??
        null,
    ),
    'slice-child': fromFocus((from) => child(state, from)),
    'same-next': fromFocus((from) => neighbour(state, from, 1, from.name)),
    'same-previous': fromFocus((from) => neighbour(state, from, -1, from.name)),
    'flow-back': flow(true),
    'flow-forward': flow(false),
    'step-next': toStep(1),
    'step-previous': toStep(-1),
    'range-focus': () => {
      const span = state.focus.value
        ? spanOfSlice(state.focus.value)
        : { start: startOf(state.viewport.value), end: endOf(state.viewport.value) };
      if (span.end > span.start) go({ start_ps: String(span.start), end_ps: String(span.end) });
    },
    'range-step': () => {
      const at = timeAt(state.viewport.value, pointer(state));
      const step = state.steps.value.find((one) => spanOfSlice(one).start <= at && at < spanOfSlice(one).end);
      if (!step) return say('There is no step here.');
      go({ start_ps: String(spanOfSlice(step).start), end_ps: String(spanOfSlice(step).end) });
    },
    'range-keep': () => {
      const focus = state.focus.value;
      state.keepMark(
        state.range.value ??
          (focus ? spanOfSlice(focus) : { start: startOf(state.viewport.value), end: endOf(state.viewport.value) }),
      );
    },
    'idle-next': toIdle(1),
    'idle-previous': toIdle(-1),
    chain: () => {
      if (!state.focus.value) return say('What the focus waited for: first choose a slice.');
      state.chained.value = !state.chained.value;
    },
    'save-png': () => saveTimeline(state, 'png', ticksOf(state)),
    'save-svg': () => saveTimeline(state, 'svg', ticksOf(state)),
    clock: () => go({ clock: query.value.clock === 'wall' ? null : 'wall' }, 'replace'),
    dock: () => void (toggleDock() || say(`Details stand at the right from ${DOCK_PAGE_PIXELS} pixels on.`)),
    'hit-next': toHit(1),
    'hit-previous': toHit(-1),
    escape: () => {
      if (state.draft.value) return state.dropDraft();
      if (query.value.find) return go({ find: null }, 'replace');
      if (query.value.slice || query.value.piece) return go({ slice: null, piece: null }, 'replace');
      if (state.range.value)
        return go({ start_ps: null, end_ps: null, ...(state.rangeTracks.value ? { track: null } : {}) });
      return false;
    },
  };
}
