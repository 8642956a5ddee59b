/* What a slice waited for, link by link to the left: of the slice before it on its row and of those
 * that sent it, the one that ended last.
 *
 *   host    [launch]---.
 *   device  [a      ]  `->[b   ][focus]      focus <- b <- launch, where launch ended after a
 */
import { loadJson } from '../../data/resource';
import type { Slice, SliceDetails, SliceList } from '../../data/types';
import { toBig } from '../../model/numbers';
import type { DrawnFlow } from './flows';
import type { TimelineState } from './state';

export interface ChainLink {
  slice: Slice;
  gap: bigint; // between its end and the begin of the one after it
  sent: boolean; // by a flow; else it came before on the same row
}

const LINKS_MAX = 16;
const REACHES = 3;

const startOf = (slice: Slice): bigint => toBig(slice.start_ps);
const endOf = (slice: Slice): bigint => startOf(slice) + toBig(slice.dur_ps);

/* The last one that ended on the same row before this one began; it is looked for farther and farther. */
async function rowBefore(state: TimelineState, slice: Slice, abort: AbortSignal): Promise<Slice | null> {
  const start = startOf(slice);
  let reach = toBig(slice.dur_ps) + BigInt(Math.round(state.viewport.peek().span / 16)) + 1n;
  for (let turn = 0; turn < REACHES; turn++, reach *= 8n) {
    const params = { run: state.run.id, track: slice.track, start_ps: start - reach, end_ps: start, limit: 1000 };
    const { rows } = await loadJson<SliceList>('api/slices', params, abort);
    const before = rows.filter((row) => row.depth === slice.depth && row.id !== slice.id && toBig(row.dur_ps) > 0n && endOf(row) <= start);
    const last = before.reduce<Slice | null>((best, row) => (best === null || endOf(row) > endOf(best) ? row : best), null);
    if (last || start - reach < state.start) return last;
  }
  return null;
}

/* Who sent it: a sender may go on beside what it sent, so its begin is what counts. */
async function sender(state: TimelineState, slice: SliceDetails, abort: AbortSignal): Promise<Slice | null> {
  const back = (slice.flows ?? []).find((flow) => flow.to.slice === slice.id && flow.from.slice !== null);
  return back ? loadJson<SliceDetails>('api/slice', { run: state.run.id, id: back.from.slice! }, abort) : null;
}

async function linkBefore(state: TimelineState, slice: SliceDetails, abort: AbortSignal): Promise<ChainLink | null> {
  const [before, from] = await Promise.all([rowBefore(state, slice, abort), sender(state, slice, abort)]);
  const reached = (one: Slice): bigint => (one === from && endOf(one) > startOf(slice) ? startOf(one) : endOf(one));
  const best = before && from ? (reached(from) >= reached(before) ? from : before) : (before ?? from);
  if (!best || reached(best) > startOf(slice) || startOf(best) >= startOf(slice)) return null;
  return { slice: best, gap: startOf(slice) - reached(best), sent: best === from };
}

/* Tells each link as it is found. */
export async function chainOf(state: TimelineState, focus: SliceDetails, abort: AbortSignal, tell: (links: readonly ChainLink[]) => void): Promise<void> {
  const links: ChainLink[] = [];
  let at = focus;
  while (links.length < LINKS_MAX) {
    const link = await linkBefore(state, at, abort);
    if (!link || abort.aborted) break;
    links.push(link);
    tell([...links]);
    at = await loadJson<SliceDetails>('api/slice', { run: state.run.id, id: link.slice.id }, abort);
  }
}

/* As arrows from link to link. */
export function chainFlows(focus: Slice, links: readonly ChainLink[]): DrawnFlow[] {
  return links.map((link, index) => {
    const to = index === 0 ? focus : links[index - 1]!.slice;
    const begin = startOf(to);
    return {
      from: { track: link.slice.track, depth: link.slice.depth, time: begin - link.gap },
      to: { track: to.track, depth: to.depth, time: begin },
    };
  });
}
