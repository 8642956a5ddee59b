/* SPDX-License-Identifier: Apache-2.0 */
/* The arrows of the slice in focus, and of that below the pointer. A flow names slices; where to draw, their
 * rows tell. */
import { effect } from '@preact/signals';
import { loadJson } from '../../data/resource';
import type { Flow, FlowEnd, Slice, SliceDetails } from '../../data/types';
import { toBig } from '../../model/numbers';
import { NO_MATES, type TimelineState } from './state';

export interface DrawnEnd {
  track: string;
  depth: number;
  time: bigint;
}

export interface DrawnFlow {
  from: DrawnEnd;
  to: DrawnEnd;
}

const FLOWS_MAX = 12;

async function endOf(
  state: TimelineState,
  end: FlowEnd,
  focus: SliceDetails,
  abort: AbortSignal,
): Promise<DrawnEnd | null> {
  if (end.track === null || end.slice === null) return null;
  const slice: Slice =
    end.slice === focus.id
      ? focus
      : await loadJson<SliceDetails>('api/slice', { run: state.run.id, id: end.slice }, abort);
  return { track: end.track, depth: slice.depth, time: toBig(end.ts_ps) };
}

const MATES_MAX = 4;

/* A launch and its kernels light up together: both ends of what begins or ends in the slice below the pointer. */
async function matesOf(state: TimelineState, own: Slice, signal: AbortSignal): Promise<void> {
  const { rows } = await loadJson<{ rows: Flow[] }>('api/flows', { run: state.run.id, slice: own.id }, signal);
  const others = rows.flatMap(({ from, to }) => [from.slice, to.slice]).filter((id) => id !== null && id !== own.id);
  const ids = [...new Set(others as string[])].slice(0, MATES_MAX);
  const slices: Slice[] = await Promise.all(
    ids.map((id) => loadJson<SliceDetails>('api/slice', { run: state.run.id, id }, signal)),
  );
  const all = new Map([own, ...slices].map((slice) => [slice.id, slice]));
  const drawn = ({ slice, track, ts_ps }: FlowEnd): DrawnEnd | null => {
    const end = slice === null ? undefined : all.get(slice);
    return end && track !== null ? { track, depth: end.depth, time: toBig(ts_ps) } : null;
  };
  const flows = rows.flatMap((flow) => {
    const [from, to] = [drawn(flow.from), drawn(flow.to)];
    return from && to ? [{ from, to }] : [];
  });
  if (!signal.aborted && state.hoverSlice.peek()?.slice.id === own.id) state.mates.value = { flows, slices };
}

export function followMates(state: TimelineState): () => void {
  let abort = new AbortController();
  const stop = effect(() => {
    const own = state.hoverSlice.value?.slice ?? null;
    abort.abort();
    if (state.mates.peek() !== NO_MATES) state.mates.value = NO_MATES;
    if (!own?.id || state.axis) return; // a row of a query may be no slice
    abort = new AbortController();
    matesOf(state, own, abort.signal).catch(() => undefined);
  });
  return () => (stop(), abort.abort());
}

export async function drawnFlows(state: TimelineState, focus: SliceDetails, abort: AbortSignal): Promise<DrawnFlow[]> {
  const flows: readonly Flow[] =
    focus.flows ?? (await loadJson<{ rows: Flow[] }>('api/flows', { run: state.run.id, slice: focus.id }, abort)).rows;
  const ends = flows.slice(0, FLOWS_MAX).map(async (flow): Promise<DrawnFlow | null> => {
    const [from, to] = await Promise.all([endOf(state, flow.from, focus, abort), endOf(state, flow.to, focus, abort)]);
    return from && to ? { from, to } : null;
  });
  const drawn = await Promise.all(ends).catch((): (DrawnFlow | null)[] => []);
  return drawn.filter((flow) => flow !== null);
}
