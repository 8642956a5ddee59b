/* SPDX-License-Identifier: Apache-2.0 */
/* What a query's answer looks like: cells by their unit, and a picture of two columns. */
import type { SqlAnswer, SqlCell } from '../data/sql';

export interface Place {
  line: number;
  column: number;
  byte: number;
}

/* Where in the text a failure stands; the server counts bytes, a text field UTF-16. */
export function placeOf(body: Record<string, unknown>, text: string): number | null {
  const at = body.at as Place | undefined;
  if (at === undefined) return null;
  return new TextDecoder().decode(new TextEncoder().encode(text).slice(0, at.byte)).length;
}

export const isNumeric = (answer: SqlAnswer, name: string): boolean =>
  answer.rows.some((row) => row[name] !== null) &&
  answer.rows.every((row) => row[name] === null || typeof row[name] !== 'string');

export interface Bar {
  words: string;
  value: number;
  cell: SqlCell;
}

export interface Picture {
  x: string;
  y: string;
  line: boolean; // both are numbers: points in their order; else a bar a row
  bars: Bar[];
  left: number; // rows that are not shown
}

const BARS_MAX = 10; // the table below has them all
const POINTS_MAX = 2000;

/* The first column against what says most that is not it: a time, bytes, a share, else the first number;
 * null where there is no number. */
export function pictureOf(
  answer: SqlAnswer,
  asked: { x?: string | undefined; y?: string | undefined } = {},
): Picture | null {
  const names = answer.columns.map((column) => column.name);
  const x = names.find((name) => name === asked.x) ?? names[0];
  const numbers = names.filter((name) => isNumeric(answer, name));
  const others = answer.columns.filter((column) => column.name !== x && numbers.includes(column.name));
  const telling = ['ps', 'bytes', 'share']
    .map((unit) => others.find((column) => column.unit === unit))
    .find((column) => column !== undefined);
  const y = numbers.find((name) => name === asked.y) ?? (telling ?? others[0])?.name;
  if (x === undefined || y === undefined || answer.rows.length < 2) return null;
  const line = isNumeric(answer, x);
  const most = line ? POINTS_MAX : BARS_MAX;
  const rows = answer.rows.filter((row) => row[y] !== null && row[x] !== null);
  const bars = rows.slice(0, most).map((row) => ({ words: String(row[x]), value: Number(row[y]), cell: row[y]! }));
  if (line) bars.sort((a, b) => Number(a.words) - Number(b.words));
  return { x, y, line, bars, left: rows.length - bars.length };
}
