/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs held against each other at the begin of a step.
 *
 *   A   ...[ 500 ][  501  ]...        by number where both have one,
 *   B   .....[ 1000 ][ 1001 ]...      else the n-th of A with the n-th of B, after warm-up
 *               ^ 0
 */
import type { StepRow } from '../data/types';
import type { Side } from './compare';
import { timeOf, busiestDevice, mainThread, type Node } from './layout';
import { time, toBig } from './numbers';

export interface Begin {
  step: string;
  start: bigint;
  end: bigint;
  warmup: boolean;
}

/* `a` or `b` null: that run has no steps, and begins where the other's step does. */
export interface Pair {
  key: string; // as in the address
  a: Begin | null;
  b: Begin | null;
}

function isWithin(row: StepRow, side: Side): boolean {
  const [first, last] = (side.step ?? '').split('-').map(Number) as [number, number?];
  const at = toBig(row.start_ps);
  return (
    (side.step === undefined || (Number(row.step) >= first && Number(row.step) <= (last ?? first))) &&
    (side.start === undefined || (at >= BigInt(side.start) && at < BigInt(side.end!)))
  );
}

/* Of a step on many hosts the earliest begin; only those in the part that is compared. */
export function beginsOf(rows: readonly StepRow[], side: Side): Begin[] {
  const begins = new Map<string, Begin>();
  for (const row of rows.filter((one) => isWithin(one, side))) {
    const step = String(row.step);
    const start = toBig(row.start_ps);
    const end = start + toBig(row.dur_ps);
    const before = begins.get(step) ?? { step, start, end, warmup: row.warmup };
    begins.set(step, {
      ...before,
      start: start < before.start ? start : before.start,
      end: end > before.end ? end : before.end,
    });
  }
  return [...begins.values()].sort((x, y) => (x.start < y.start ? -1 : 1));
}

export function pairsOf(a: readonly Begin[], b: readonly Begin[]): Pair[] {
  if (a.length === 0 && b.length === 0) return [{ key: 'begin', a: null, b: null }];
  if (a.length === 0) return b.map((one) => ({ key: one.step, a: null, b: one }));
  if (b.length === 0) return a.map((one) => ({ key: one.step, a: one, b: null }));
  const same = a.flatMap((one): Pair[] => {
    const other = b.find(({ step }) => step === one.step);
    return other ? [{ key: one.step, a: one, b: other }] : [];
  });
  if (same.length > 0) return same;
  const [left, right] = [counted(a), counted(b)];
  return left.slice(0, right.length).map((one, index) => ({ key: one.step, a: one, b: right[index]! }));
}

/* Where all are warm-up they are what there is. */
function counted(begins: readonly Begin[]): readonly Begin[] {
  const steady = begins.filter((one) => !one.warmup);
  return steady.length > 0 ? steady : begins;
}

/* The place of the pair asked for; without one, of the first after warm-up. */
export function placeOf(pairs: readonly Pair[], asked: string | undefined): number {
  const found = pairs.findIndex((pair) => pair.key === asked);
  if (found >= 0) return found;
  return Math.max(
    0,
    pairs.findIndex((pair) => !pair.a?.warmup && !pair.b?.warmup),
  );
}

/* "step 501 of A, step 1001 of B": whose begins stand at 0. */
export function pairWords({ a, b }: Pair): string {
  if (a && b) return a.step === b.step ? `step ${a.step}` : `step ${a.step} of A, step ${b.step} of B`;
  if (a || b) return a ? `step ${a.step} of A, and of the whole of B` : `the whole of A, and of step ${b!.step} of B`;
  return 'both runs';
}

export function beginWords(begin: Begin | null): string {
  return begin === null ? 'no steps: its start is placed at 0' : `step ${begin.step}, ${time(begin.end - begin.start)}`;
}

const THREADS_MAX = 4;

const below = (node: Node): Node[] => [node, ...node.children.flatMap(below)];

/* What is enough to see where a step goes: the lanes of the busiest device, or where there is none
 * the busiest threads; and the main thread of that host. */
export function tracksToAlign(roots: readonly Node[]): string[] {
  const device = busiestDevice(roots);
  const hasSlices = (node: Node): boolean => node.kind !== 'counter' && (node.track?.slice_count ?? 0) > 0;
  const threads = roots
    .flatMap(below)
    .filter((node) => node.kind === 'thread' && hasSlices(node) && (device === null || node.host === device.host));
  const main = mainThread(roots.filter((node) => device === null || node.host === device.host));
  const heaviest = [...threads].sort((x, y) => timeOf(y) - timeOf(x)).slice(0, THREADS_MAX);
  const work = device
    ? below(device).filter(hasSlices)
    : heaviest.length > 0
      ? heaviest
      : roots.flatMap(below).filter(hasSlices).slice(0, THREADS_MAX);
  return [...work, ...(main && !work.includes(main) ? [main] : [])].map((node) => node.id);
}
