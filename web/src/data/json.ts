/* SPDX-License-Identifier: Apache-2.0 */
/* JSON whose integers stay exact.
 *
 * Picoseconds pass 2^53 after two and a half hours. A number reads such an integer as its
 * neighbour, so the few that are too long come back as bigint; everything else is what JSON.parse
 * gives. Texts that hold none (nearly all) take the native way alone.
 */

export type Ps = number | bigint;

/* A string, or an integer of 16 digits and more that is no part of a fraction. */
const TOKENS = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const LONG = /\d{16}/;

const mark = `exact-${Math.random().toString(36).slice(2)}:`;

function quoteLong(token: string): string {
  if (token.startsWith('"')) return token;
  return Number.isSafeInteger(Number(token)) ? token : `"${mark}${token}"`;
}

function revive(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
}

export function parseExact(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text);
  const quoted = text.replace(TOKENS, quoteLong);
  return quoted.length === text.length ? JSON.parse(text) : JSON.parse(quoted, revive);
}
