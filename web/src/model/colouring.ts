/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice's colour tells: its kind (with a shade by name), its name, or how much its name weighs.
 *
 *   slots   0 ........ 26 | 27 .. 34 | 35 ... 39
 *           kind × shade  |  by name |  by self time, pale to full
 *
 * A name has the same colour in every run.
 */
export type Colouring = 'kind' | 'name' | 'self';

export const COLOURINGS: readonly Colouring[] = ['kind', 'name', 'self'];
export const COLOURING_WORDS: Readonly<Record<Colouring, string>> = {
  kind: 'kind of work',
  name: 'name',
  self: 'self time of all of its name',
};
export const AMOUNT_WORDS = ['below 1 %', '1 to 5 %', '5 to 20 %', '20 to 50 %', 'from 50 %'];
export const HUES = 8;
export const AMOUNTS = 5;
export const NAME_SLOT = 27;
export const AMOUNT_SLOT = NAME_SLOT + HUES;
export const SLOTS = AMOUNT_SLOT + AMOUNTS;

export function colouringOf(word: string | undefined): Colouring {
  return COLOURINGS.find((one) => one === word) ?? 'kind';
}

/* 0 to 4: how near a name comes to the heaviest one. */
export function amountLevel(share: number): number {
  return [0.01, 0.05, 0.2, 0.5].filter((least) => share >= least).length;
}

export interface Names {
  texts: readonly string[];
  shades: readonly number[];
  hues: readonly number[];
}

/* Of a slice in a row of containers the kind alone speaks. */
export function slotsOf(
  colouring: Colouring,
  names: Names,
  levels: ReadonlyMap<string, number>,
  neutral: number,
): (name: number, kind: number) => number {
  const known: number[] = [];
  const amount = (name: number): number => (known[name] ??= levels.get(names.texts[name]!) ?? 0);
  return (name, kind) => {
    if (kind === neutral || colouring === 'kind') return kind * 3 + names.shades[name]!;
    return colouring === 'name' ? NAME_SLOT + names.hues[name]! : AMOUNT_SLOT + amount(name);
  };
}
