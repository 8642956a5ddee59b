/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a search, as far as the page itself must know them: what keeps its colour.
 *
 *   fusion dur>1ms track:stream    the text of names is "fusion"; the server reads the rest
 */
const TERM = /^(dur[<>]=?|(track|host|scope|source|op|module|is):.|[^=]+=)/;

const quoted = (text: string) => (/\s/.test(text) ? `"${text}"` : text);

/* The slices of an op, and no others; a name with a quote in it can only be looked for. */
export function slicesOfOp(name: string, module: string | null | undefined): string {
  if (name.includes('"') || module?.includes('"')) return name;
  return `op:${quoted(name)}${module ? ` module:${quoted(module)}` : ''}`;
}

/* The slices that bear this name, and no others. */
export function slicesNamed(name: string): string {
  return name.includes('"') ? name : `is:${quoted(name)}`;
}

/* In small letters; empty: names are not asked for. */
export function nameText(find: string): string {
  const words = find.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
  return words
    .map((word) => word.replaceAll('"', ''))
    .filter((word) => !TERM.test(word))
    .map((word) => word.replace(/^name:(?=.)/, ''))
    .join(' ')
    .toLowerCase();
}

/* Counts over time as bars: pixels from the left, and how full against the fullest. */
export function densityBars(counts: readonly number[]): { at: number; share: number }[] {
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  return counts.flatMap((count, bucket) =>
    count === 0 ? [] : [{ at: bucket / counts.length, share: Math.log1p(count) / Math.log1p(most) }],
  );
}
