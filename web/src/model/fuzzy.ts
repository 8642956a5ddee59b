/* SPDX-License-Identifier: Apache-2.0 */
/* How well a name fits what was typed: each word as it stands, else its letters in their order.
 *
 *   "go st"   Steps          0 begins a word of the name  ·  1 stands inside  ·  2 + gaps as letters
 *   "hlst"    hlo stats
 */
const INSIDE = 1;
const SCATTERED = 2;

function isWordStart(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!);
}

/* Letters in their order, each preferably at the begin of a word; how many pieces they fall into.
 * Initials may be as many as there are; of pieces out of the middle of words a few. */
function pieces(word: string, text: string): number | null {
  let from = 0;
  let found = 0;
  let loose = 0;
  let before = -2;
  for (const letter of word) {
    let at = text.indexOf(letter, from);
    if (at < 0) return null;
    if (at !== before + 1)
      for (let other = at; other >= 0; other = text.indexOf(letter, other + 1))
        if (isWordStart(text, other)) {
          at = other;
          break;
        }
    if (at !== before + 1) found++;
    if (at !== before + 1 && !isWordStart(text, at)) loose++;
    before = at;
    from = at + 1;
  }
  return loose > word.length / 3 ? null : found;
}

function fitOf(word: string, text: string): number | null {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) if (isWordStart(text, at)) return 0;
  if (text.includes(word)) return INSIDE;
  const found = pieces(word, text);
  return found === null ? null : SCATTERED + found;
}

/* The smaller the better; null: it does not fit. */
export function fuzzy(typed: string, name: string): number | null {
  const text = name.toLowerCase();
  let sum = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const fit = fitOf(word, text);
    if (fit === null) return null;
    sum += fit;
  }
  return sum;
}

export function matches(typed: string, name: string): boolean {
  return fuzzy(typed, name) !== null;
}

/* What fits, the best first; equal ones stay as they came. */
export function ranked<T>(typed: string, all: readonly T[], wordsOf: (one: T) => string): T[] {
  return all
    .flatMap((one, at) => {
      const fit = fuzzy(typed, wordsOf(one));
      return fit === null ? [] : [{ one, fit, at }];
    })
    .sort((a, b) => a.fit - b.fit || a.at - b.at)
    .map(({ one }) => one);
}
