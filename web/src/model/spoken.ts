/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the server as the page sets them: numbers in 600, thin spaces before units and in
 * thousands, code between backticks. Text in, pieces out. */
import { THIN } from './numbers';
import type { Sentence } from './sentence';

export interface Piece {
  text: string;
  as: 'text' | 'strong' | 'code';
}

const UNIT = '(?:ps|ns|µs|ms|s|min|h|%|B|KiB|MiB|GiB|TiB|M|G|FLOP|kFLOP|MFLOP|GFLOP|TFLOP|[kMGT]?B/s|[kMGT]FLOP/s)';
/* Times and sizes never reach a thousand of their unit: what has one is a number of its own. */
const THOUSANDS = new RegExp(`(?<![\\w.])([1-9]\\d{0,2}) (?=\\d{3}(?![\\d.]| ${UNIT}(?![\\w/])))`, 'g');
const BEFORE_UNIT = new RegExp(`(\\d) (?=${UNIT}(?![\\w/]))`, 'g');
const DIGITS = `\\d[\\d${THIN}]*(?:\\.\\d+)?`;
const SMALLER_UNIT = `(?:(?<=min|h) \\d+${THIN}(?:s|min))?`;
const NUMBER = new RegExp(`(?<![\\w.$-])(?:± ?|[<≈−-])?${DIGITS}(?:${THIN}${UNIT}(?![\\w/]))${SMALLER_UNIT}`, 'g');

function thin(text: string): string {
  return text.replace(THOUSANDS, `$1${THIN}`).replace(BEFORE_UNIT, `$1${THIN}`);
}

/* Numbers that bear a unit; a count stays as it is, for names hold digits too. */
function numbersOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(NUMBER)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), as: 'text' });
    pieces.push({ text: found[0], as: 'strong' });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), as: 'text' });
  return pieces;
}

/* Every second part stands between backticks; one that is left open is text. */
export function piecesOf(text: string): Piece[] {
  const parts = text.split('`');
  return parts.flatMap((part, index): Piece[] => {
    if (part === '') return [];
    return index % 2 === 1 && index < parts.length - 1 ? [{ text: part, as: 'code' }] : numbersOf(thin(part));
  });
}

export function spoken(text: string): Sentence {
  return piecesOf(text).map((piece) => (piece.as === 'strong' ? { strong: piece.text } : piece.text));
}
