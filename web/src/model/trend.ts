/* Figures of a trend as its table has them: a value, its level and the noise about that stand side
 * by side, so that all of them have one unit. */
import { count, inScale, shareCell, sizeScale, timeScale, UNKNOWN, type Scale } from './numbers';

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
  return { cell: (value) => (value === null ? UNKNOWN : unit === 'share' ? shareCell(Number(value)) : count(Number(value))) };
}
