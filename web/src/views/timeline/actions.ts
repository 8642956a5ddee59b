/* What the keys do on the timeline. */
import { go, query } from '../../data/place';
import { loadJson } from '../../data/resource';
import type { Slice, SliceList, StepRow } from '../../data/types';
import { toBig } from '../../model/numbers';
import { endOf, startOf, timeAt, viewportOf } from '../../model/viewport';
import type { Actions } from '../../ui/keys';
import { spanOfSlice } from './window_pane';
import type { TimelineState } from './state';

const ZOOM_STEP = 1.5;
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
async function neighbour(state: TimelineState, from: Slice, direction: 1 | -1, name: string | null): Promise<Slice | null> {
  const start = toBig(from.start_ps);
  const end = start + toBig(from.dur_ps);
  for (let reach = BigInt(Math.round(state.viewport.value.span / 4)) + 1n; ; reach *= 8n) {
    const low = direction > 0 ? end : start - reach;
    const high = direction > 0 ? end + reach : start;
    const rows = await slicesOf(state, { track: from.track, start_ps: low, end_ps: high + 1n, ...(name === null ? {} : { name }) });
    const beside = rows.filter((slice) => {
      const at = toBig(slice.start_ps);
      return slice.id !== from.id && (name !== null || slice.depth === from.depth) && (direction > 0 ? at >= start : at <= start);
    });
    const next = beside.sort((a, b) => (Number(toBig(a.start_ps) - toBig(b.start_ps)) || a.depth - b.depth) * direction)[0];
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

function stepBeside(state: TimelineState, direction: 1 | -1): StepRow | null {
  const middle = timeAt(state.viewport.value, 0.5);
  const steps = [...state.steps.value].sort((a, b) => Number(toBig(a.start_ps) - toBig(b.start_ps)));
  const at = steps.findIndex((step) => toBig(step.start_ps) + toBig(step.dur_ps) > middle);
  const index = at < 0 ? steps.length : at;
  return steps[Math.min(steps.length - 1, Math.max(0, index + (direction > 0 && toBig(steps[index]?.start_ps ?? 0) > middle ? 0 : direction)))] ?? null;
}

export interface Search {
  rows: () => readonly Slice[];
}

export function timelineActions(state: TimelineState, search: Search): Actions {
  const focusOn = (slice: Slice | null): void => {
    if (slice) go({ slice: slice.id }, 'replace');
  };
  const fromFocus = (next: (from: Slice) => Promise<Slice | null>) => () => {
    const focus = state.focus.value;
    void (focus ? next(focus) : nearestCentre(state)).then(focusOn);
  };
  const toHit = (direction: 1 | -1) => () => {
    const rows = search.rows();
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
    const focus = state.focus.value;
    const found = focus?.flows?.find((one) => (back ? one.to.slice : one.from.slice) === focus.id);
    const other = back ? found?.from.slice : found?.to.slice;
    if (other) go({ slice: other }, 'replace');
  };

  return {
    'zoom-in': () => state.zoom(1 / ZOOM_STEP, pointer(state)),
    'zoom-out': () => state.zoom(ZOOM_STEP, pointer(state)),
    'pan-left': () => state.pan(-1 / 8),
    'pan-right': () => state.pan(1 / 8),
    'pan-left-half': () => state.pan(-1 / 2),
    'pan-right-half': () => state.pan(1 / 2),
    begin: () => state.set({ ...state.viewport.value, base: state.start, offset: -state.viewport.value.span * 0.02 }),
    end: () => state.set({ ...state.viewport.value, base: state.end, offset: -state.viewport.value.span * 0.98 }),
    'scroll-up': () => void (state.scrollTop.value = Math.max(0, state.scrollTop.value - state.size.value.height * 0.9)),
    'scroll-down': () => void (state.scrollTop.value += state.size.value.height * 0.9),
    'zoom-focus': () => (state.focus.value ? state.showSpan('focus', spanOfSlice(state.focus.value)) : undefined),
    'zoom-range': () => (state.range.value ? state.showSpan('range', state.range.value, 0.02) : undefined),
    'zoom-all': () => state.showSpan('all', { start: state.start, end: state.end }, 0.01),
    'slice-before': fromFocus((from) => neighbour(state, from, -1, null)),
    'slice-after': fromFocus((from) => neighbour(state, from, 1, null)),
    'slice-parent': fromFocus(async () => state.focus.value?.parents?.find((one) => one.depth === state.focus.value!.depth - 1) ?? state.focus.value?.parents?.[0] ?? null),
    'slice-child': fromFocus((from) => child(state, from)),
    'same-next': fromFocus((from) => neighbour(state, from, 1, from.name)),
    'same-previous': fromFocus((from) => neighbour(state, from, -1, from.name)),
    'flow-back': flow(true),
    'flow-forward': flow(false),
    'step-next': toStep(1),
    'step-previous': toStep(-1),
    'range-focus': () => {
      const span = state.focus.value ? spanOfSlice(state.focus.value) : { start: startOf(state.viewport.value), end: endOf(state.viewport.value) };
      if (span.end > span.start) go({ start_ps: String(span.start), end_ps: String(span.end) });
    },
    'hit-next': toHit(1),
    'hit-previous': toHit(-1),
    escape: () => {
      if (state.draft.value) return void (state.draft.value = null);
      if (query.value.find) return go({ find: null }, 'replace');
      if (query.value.slice) return go({ slice: null }, 'replace');
      if (state.range.value) return go({ start_ps: null, end_ps: null });
      return false;
    },
  };
}
