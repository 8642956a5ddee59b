/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice's colour tells: its kind (with a shade by name), its name, or how much its name weighs.
 *
 *   slots   0 ........ 26 | 27 .. 34 | 35 ... 39                   | 40 ...
 *           kind × shade  |  by name |  by self time, pale to full | families of compute
 *
 * A name has the same colour in every run.
 */
/* What compute is, told by hues of it: by the category that the program or a kernel's name gives.
 *
 *   "matrix product (by name)", "dot", "custom-call __cublas$gemm"     product
 *   "loop fusion", "elementwise (by name)", "broadcast"                elementwise
 */
export type Family = 'product' | 'attention' | 'convolution' | 'normalisation' | 'elementwise' | 'moving';

export const FAMILIES: readonly Family[] = [
  'product',
  'attention',
  'convolution',
  'normalisation',
  'elementwise',
  'moving',
];

/* As the legend has them. */
export const FAMILY_WORDS: Readonly<Record<Family, string>> = {
  product: 'matrix products',
  attention: 'attention',
  convolution: 'convolutions',
  normalisation: 'normalisation',
  elementwise: 'elementwise',
  moving: 'copies by kernels',
};

/* The first that fits. */
const RULES: readonly [RegExp, Family][] = [
  [/attention|fmha/, 'attention'],
  [/conv(olution)?\b|\$conv/, 'convolution'],
  [/matrix product|gemm|matmul|^dot\b|custom-call.*(cublas|triton_gemm)/, 'product'],
  [/norm|softmax/, 'normalisation'],
  [/elementwise|loop fusion|^(broadcast|select|compare|convert|exponential|tanh|add|multiply)$/, 'elementwise'],
  [/^copy|data formatting|transpose|concatenate|reshape|^pad$|^slice$/, 'moving'],
];

/* The place in FAMILIES; -1: known to be none of these, or not known. */
export function familyOf(category: string | null): number {
  const text = category?.toLowerCase() ?? '';
  const rule = RULES.find(([pattern]) => pattern.test(text));
  return rule ? FAMILIES.indexOf(rule[1]) : -1;
}

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
export const FAMILY_SLOT = AMOUNT_SLOT + AMOUNTS;
export const SLOTS = FAMILY_SLOT + FAMILIES.length;

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

const COMPUTE = 0;

/* Of a slice in a row of containers the kind alone speaks. `families`: places in FAMILIES, by name. */
export function slotsOf(
  colouring: Colouring,
  names: Names,
  levels: ReadonlyMap<string, number>,
  neutral: number,
  families: ReadonlyMap<string, number> = new Map(),
): (name: number, kind: number) => number {
  const known: number[] = [];
  const familyOf: number[] = [];
  const family = (name: number): number => (familyOf[name] ??= families.get(names.texts[name]!) ?? -1);
  const amount = (name: number): number => (known[name] ??= levels.get(names.texts[name]!) ?? 0);
  return (name, kind) => {
    if (kind === COMPUTE && colouring === 'kind' && family(name) >= 0) return FAMILY_SLOT + family(name);
    if (kind === neutral || colouring === 'kind') return kind * 3 + names.shades[name]!;
    return colouring === 'name' ? NAME_SLOT + names.hues[name]! : AMOUNT_SLOT + amount(name);
  };
}
