/* SPDX-License-Identifier: Apache-2.0 */
/* Names made short so that two of them never look alike, and safe to show. */

const NAME_LENGTH_MAX = 512;

/* In the middle: both ends tell names apart. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length <= 1) return length === 1 ? '…' : '';
  const tail = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - tail)}…${tail === 0 ? '' : text.slice(-tail)}`;
}

/* Where names are narrow the head tells more than the end: the end stays only beside a head that can be read.
 *
 *   dot_general_fusion.12   ->   dot_general_f…n.12   dot_general…   dot_g…
 */
const HEAD_MIN = 12;
const TAIL_MAX = 6;

export function cutForLabel(text: string, length: number): string {
  if (text.length <= length) return text;
  const tail = Math.min(TAIL_MAX, length - 1 - HEAD_MIN);
  if (tail < 3) return length <= 1 ? '' : `${text.slice(0, length - 1)}…`;
  return `${text.slice(0, length - 1 - tail)}…${text.slice(-tail)}`;
}

/* Control characters show as �; of what is longer than anyone reads both ends stay (Copy gives the whole).
 * Nothing that bears a name looks empty. */
export function shown(name: string | null | undefined): string {
  if (!name) return '(no name)';
  if (!name.trim()) return '(blank)';
  return cutMiddle(name, NAME_LENGTH_MAX).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
}

/* Paths as `file:line`. */
export function shortSource(source: string): string {
  return source.slice(source.lastIndexOf('/') + 1);
}

/* Without the transformations that every scope of a program begins with: jit(train_step)/jit(main)/x -> x. */
export function shortScope(scope: string): string {
  const parts = scope.split('/');
  const first = parts.findIndex((part) => !/^(jit|pjit|xmap|pmap)\(.*\)$/.test(part));
  return first < 0 ? scope : parts.slice(first).join('/');
}
