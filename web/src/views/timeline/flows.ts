/* SPDX-License-Identifier: Apache-2.0 */
/* The arrows of the slice in focus. A flow names slices; where to draw, their rows tell. */
import { loadJson } from '../../data/resource';
import type { Flow, FlowEnd, Slice, SliceDetails } from '../../data/types';
import { toBig } from '../../model/numbers';
import type { TimelineState } from './state';

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
