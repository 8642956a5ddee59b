/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of steps and hosts say first, and where lies what counted steps leave out. */
import type { HostRow, HostTable, IdleRow, Kind, StepRow } from '../data/types';
import { phaseOf, type CompileRow } from './compiles';
import { plural, share, time, toBig, toNumber } from './numbers';
import { named, strong, type Sentence } from './sentence';

const LONGER_SHARE = 0.1; // of the median: what is worth a clause
const WAITS_SHARE = 0.05;

function medianOfKind(rows: readonly StepRow[], kind: Kind): number {
  const sizes = rows
    .map((row) => toNumber(row.breakdown.find((part) => part.kind === kind)?.self_ps ?? 0))
    .sort((a, b) => a - b);
  return sizes[Math.ceil(sizes.length / 2) - 1] ?? 0;
}

/* What was longer in a step: by name where the server found one, else the kind that grew most. */
function longerClause(step: StepRow, counted: readonly StepRow[], longer: number): string {
  if (step.slowest_by && step.slowest_by_ps)
    return `: ${named(step.slowest_by)} was ${time(step.slowest_by_ps)} longer`;
  const excess = step.breakdown
    .map((part) => ({ kind: part.kind, by: toNumber(part.self_ps) - medianOfKind(counted, part.kind) }))
    .sort((a, b) => b.by - a.by)[0];
  return excess && excess.by > 0.3 * longer ? `: ${excess.kind} was ${time(excess.by)} longer than its median` : '';
}

/* The slowest step, and what was longer in it. */
function slowestClause(counted: readonly StepRow[], median: number): Sentence {
  const slowest = counted.reduce((a, b) => (toNumber(b.dur_ps) > toNumber(a.dur_ps) ? b : a));
  const longer = toNumber(slowest.dur_ps) - median;
  if (longer <= LONGER_SHARE * median) return [];
  return [`; step ${slowest.step} took `, strong(time(slowest.dur_ps)), longerClause(slowest, counted, longer)];
}

export function stepsSentence(steps: readonly StepRow[], median: number | null): Sentence {
  const counted = steps.filter((row) => !row.warmup);
  if (median === null || counted.length === 0) return [];
  const warmups = steps.length - counted.length;
  const sum = (of: (row: StepRow) => number): number => counted.reduce((total, row) => total + of(row), 0);
  const waits =
    sum((row) => toNumber(row.wait_ps ?? 0)) /
    Math.max(
      1,
      sum((row) => toNumber(row.dur_ps)),
    );
  return [
    strong(plural(steps.length, 'step')),
    counted.length === 1 ? ' of ' : ', median ',
    strong(time(median)),
    warmups > 0 ? ` without ${plural(warmups, 'warm-up')}` : '',
    ...(waits >= WAITS_SHARE ? ['; for ', strong(share(waits)), ' of it devices do nothing but wait'] : []),
    ...slowestClause(counted, median),
    '.',
  ];
}

const CAUSE_WORDS: Record<string, string> = {
  input: 'the host loads data',
  compile: 'the host compiles',
  transfer: 'the host copies from or to devices',
  dispatch: 'the host launches programs',
  python: 'the host runs Python',
  'host code': 'the host runs other code',
  waiting: 'the host waits itself',
  'nothing recorded': 'nothing of the host is recorded',
};

export function idleSentence(rows: readonly IdleRow[]): Sentence {
  const total = rows.reduce((sum, row) => sum + toNumber(row.idle_ps), 0);
  if (total === 0) return ['Devices are never idle.'];
  const causes = new Map<string, number>();
  for (const row of rows) causes.set(row.cause, (causes.get(row.cause) ?? 0) + toNumber(row.idle_ps));
  const devices = new Set(rows.map((row) => `${row.host} ${row.device}`)).size;
  const [first, second] = [...causes].sort((a, b) => b[1] - a[1]);
  const clause = ([cause, ps]: [string, number]): Sentence => [
    strong(share(ps / total)),
    ` of it ${CAUSE_WORDS[cause] ?? cause}`,
  ];
  return [
    devices === 1 ? 'The device is idle ' : `${devices} devices are idle, together `,
    strong(time(total)),
    ': in ',
    ...clause(first!),
    ...(second && second[1] >= 0.05 * total ? [', in ', ...clause(second)] : []),
    '.',
  ];
}

function comparedWords(table: HostTable<unknown>): string {
  return `of ${plural(table.compared_count, 'step')}`;
}

/* How busy each is by itself; all other figures of the page are of steps. */
function withoutSteps(rows: readonly HostRow[], one: string): Sentence {
  const shares = rows.flatMap((row) => row.busy_share ?? []);
  const [least, most] = [share(Math.min(...shares)), share(Math.max(...shares))];
  const busy: Sentence =
    shares.length === 0
      ? []
      : [
          ', busy ',
          strong(least === most ? most : `${least} to ${most}`),
          ` from ${rows.length === 1 ? 'its first to its' : 'their first to their'} last event`,
        ];
  return [
    strong(plural(rows.length, one)),
    ...busy,
    rows.length === 1 ? '; no steps were found.' : '; no steps were found, so that nothing tells who comes last.',
  ];
}

/* Who lags, by how much, how often; else that nobody does. */
export function hostsSentence(table: HostTable<HostRow>): Sentence {
  const { rows, by, basis } = table;
  if (rows.length === 0) return [];
  const one = by === 'host' ? 'host' : 'device';
  const median =
    rows.map((row) => (row.step_median_ps === null ? 0 : toNumber(row.step_median_ps))).sort((a, b) => b - a)[0] ?? 0;
  if (rows.length === 1 || basis === 'none') {
    const busy = rows[0]!.busy_share;
    if (median === 0) return withoutSteps(rows, one);
    const sentence: Sentence = ['A step takes ', strong(time(median)), ' on ', strong(plural(rows.length, one))];
    if (rows.length === 1 && busy !== null)
      sentence.push(
        by === 'host' && rows[0]!.device_count > 1 ? '; devices are busy ' : '; the device is busy ',
        strong(share(busy)),
        ' of it',
      );
    return [...sentence, '.'];
  }
  const late = rows.filter((row) => row.straggler).sort((a, b) => toNumber(b.lag_ps ?? 0) - toNumber(a.lag_ps ?? 0))[0];
  const total = rows.reduce((sum, row) => sum + toNumber(row.busy_ps ?? 0) + toNumber(row.idle_ps ?? 0), 0);
  const waits = rows.reduce((sum, row) => sum + toNumber(row.wait_ps ?? 0), 0);
  const sentence: Sentence = late
    ? [
        strong(named(late.name)),
        ' comes last in ',
        strong(String(late.last_count)),
        ` ${comparedWords(table)}, at the median by `,
        strong(time(late.lag_ps!)),
      ]
    : [`No ${one} comes last in more than half `, comparedWords(table)];
  if (basis === 'communication' && total > 0 && waits / total >= 0.001)
    sentence.push(
      '; ',
      rows.length === 2 ? 'waiting for the other takes ' : 'waiting for the last takes ',
      strong(share(waits / total)),
      ' of the steps',
    );
  return [...sentence, '.'];
}

/* What counted steps leave out, by where it lies: before and after all steps, in warm-up steps, in those
 * that the recording cuts. What lies between steps is what remains. */
export interface OutsidePart {
  words: string;
  start: bigint | null; // from the beginning of the recording
  end: bigint | null; // to its end
  within?: OutsidePart; // of it, what is worth a word
}

const PARTS_MAX = 6; // each is a question

const classOf = (step: StepRow): 'warm-up' | 'cut' | 'counted' =>
  step.warmup ? 'warm-up' : step.cut ? 'cut' : 'counted';
const endOf = (step: StepRow): bigint => toBig(step.start_ps) + toBig(step.dur_ps);

/* Steps of one host; null where they are told apart by more windows than one asks for, or lie over each other. */
export function outsideParts(steps: readonly StepRow[], recorded: bigint): OutsidePart[] | null {
  const inOrder = [...steps].sort((a, b) => (toBig(a.start_ps) < toBig(b.start_ps) ? -1 : 1));
  const groups: StepRow[][] = [];
  for (const step of inOrder) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    if (before && endOf(before) > toBig(step.start_ps)) return null;
    if (before && classOf(before) === classOf(step)) group!.push(step);
    else groups.push([step]);
  }
  const left = groups.filter(([first]) => classOf(first!) !== 'counted');
  if (groups.length === left.length || left.length + 2 > PARTS_MAX) return null;
  const first = inOrder[0]!;
  const last = inOrder.at(-1)!;
  const parts = [
    { words: 'before the first step', start: null, end: toBig(first.start_ps) },
    ...left.map((group) => ({
      words:
        classOf(group[0]!) === 'warm-up'
          ? `in ${plural(group.length, 'warm-up step')}`
          : `in ${plural(group.length, 'step')} that the recording cuts`,
      start: toBig(group[0]!.start_ps),
      end: endOf(group.at(-1)!),
    })),
    { words: 'after the last step', start: endOf(last), end: null },
  ];
  return parts.filter(({ start, end }) => (start ?? 0n) < (end ?? recorded));
}

/* Of the time before `end` the compilation that tuned most: what runs on devices meanwhile are kernels tried. */
export function tuningPart(compiles: readonly CompileRow[], end: bigint): OutsidePart | undefined {
  const endOfOne = (row: CompileRow) => toBig(row.start_ps) + toBig(row.total_ps);
  const [most] = compiles
    .filter((row) => phaseOf(row, 'autotune') > 0 && endOfOne(row) <= end)
    .sort((a, b) => phaseOf(b, 'autotune') - phaseOf(a, 'autotune'));
  return (
    most && {
      words: `while ${most.function ?? 'a function'} was compiled and tuned`,
      start: toBig(most.start_ps),
      end: endOfOne(most),
    }
  );
}
