/* SPDX-License-Identifier: Apache-2.0 */
/* What a trend says, and its figures as its table has them: a value, its level and the noise about
 * that stand side by side, so that all of them have one unit. */
import {
  count,
  inScale,
  plural,
  share,
  shareCell,
  size,
  sizeScale,
  time,
  timeScale,
  UNKNOWN,
  type Scale,
} from './numbers';
import { named, strong, type Sentence } from './sentence';

export type Figure = number | bigint | null;

export interface FigureColumn {
  unit?: string;
  cell: (value: Figure) => string;
}

function scaleOf(values: readonly Figure[], unit: string): Scale | null {
  if (unit === 'ps') return timeScale(values);
  return unit === 'bytes' ? sizeScale(values.map((value) => (value === null ? null : Number(value)))) : null;
}

export function figureColumn(values: readonly Figure[], unit: string): FigureColumn {
  const scale = scaleOf(values, unit);
  if (scale) return { unit: scale.unit, cell: (value) => inScale(value, scale) };
  return {
    cell: (value) => (value === null ? UNKNOWN : unit === 'share' ? shareCell(Number(value)) : count(Number(value))),
  };
}

export interface TrendJump {
  before: { id: string; name: string };
  run: { id: string; name: string };
  from: number | bigint;
  to: number | bigint;
}

interface TrendPoint {
  name: string;
  value: Figure;
  level: Figure;
  low: Figure;
  high: Figure;
}

export function told(value: Figure, unit: string): string {
  if (value === null) return UNKNOWN;
  if (unit === 'ps') return time(value);
  if (unit === 'bytes') return size(Number(value));
  return unit === 'share' ? share(Number(value)) : count(Number(value));
}

const beyond = ({ value, low, high }: TrendPoint): number =>
  value === null || low === null || high === null
    ? 0
    : Math.max(0, Number(low) - Number(value), Number(value) - Number(high));

/* Of all runs; the furthest is named. */
function outsideClause(rows: readonly TrendPoint[], unit: string): Sentence {
  const outside = rows.filter((row) => beyond(row) > 0).sort((a, b) => beyond(b) - beyond(a));
  const [first] = outside;
  if (!first) return [];
  if (outside.length === 1)
    return [`; ${named(first.name)} is outside the noise, at `, strong(told(first.value, unit))];
  return [
    `; ${plural(outside.length, 'run')} are outside the noise; the furthest is ${named(first.name)} with `,
    strong(told(first.value, unit)),
  ];
}

/* The level that holds now, its noise, since when, and who does not keep to it. */
export function trendSentence(
  words: string,
  { rows, jumps, unit }: { rows: readonly TrendPoint[]; jumps: readonly TrendJump[]; unit: string },
): Sentence {
  const subject = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  const known = rows.filter((row) => row.value !== null);
  const now = known.at(-1);
  const jump = jumps.at(-1);
  if (!now || now.level === null) return [`${subject} has not jumped in ${plural(known.length, 'run')}.`];
  const noise =
    now.low === null || now.high === null ? '' : ` (noise ${told(now.low, unit)} … ${told(now.high, unit)})`;
  const outside = outsideClause(known, unit);
  if (jump)
    return [
      `${subject} was `,
      strong(told(jump.from, unit)),
      ` until ${named(jump.before.name)}, and is `,
      strong(told(jump.to, unit)),
      `${noise} since ${named(jump.run.name)}`,
      ...outside,
      '.',
    ];
  return [
    `${subject} is `,
    strong(told(now.level, unit)),
    `${noise} and has not jumped in ${plural(known.length, 'run')}`,
    ...outside,
    '.',
  ];
}
