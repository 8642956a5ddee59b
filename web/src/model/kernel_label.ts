/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels made short in a table: C++ spells templates, and what all of a family begin with says nothing.
 *
 *   void at::native::reduce_kernel<1, ReduceOp<float>>(ReduceOp<float>)       ->  reduce_kernel<1, ReduceOp<float>>
 *   elementwise_kernel<4, impl<Mul>(Iterator&, Mul const&)::{lambda(int)#1}>  ->  elementwise_kernel<4, impl<Mul>>
 *   EigenMetaKernel<A<B, sum>> beside EigenMetaKernel<A<B, product>>          ->  EigenMetaKernel<…sum>>
 *   gemm_f32_tilesize64x64_execute_kernel beside ..._tilesize128x64_...       ->  gemm_f…tilesize64x64…cute_kernel
 */

const SHARED_MIN = 16; // as much of a common beginning as is worth a sign of its own
const ROOM = 48; // letters of a name that show in a table of 1280 pixels
const HEAD = 12;
const TAIL = 8;

/* Without its result, namespaces and parameters. */
export function bareKernel(name: string): string {
  let bare = name.replace(/^(?:void|static|__global__|int|bool) /, '').replace(/\(anonymous namespace\)::/g, '');
  if (!/[<(]/.test(bare)) return name;
  let depth = 0;
  for (let at = 0; at < bare.length; at++) {
    const letter = bare[at];
    if (letter === '<') depth++;
    else if (letter === '>' && bare[at - 1] !== '-') depth--;
    else if (letter === '(' && depth === 0 && at > 0) {
      bare = bare.slice(0, at);
      break;
    }
  }
  bare = bare.replace(/(?:[A-Za-z_]\w*::)+(?=[A-Za-z_~])/g, '').trim();
  return bare === '' ? name : bare;
}

/* And without what only the compiler needs: parameters of functions inside, and their lambdas. */
function withoutInner(bare: string): string {
  if (!bare.includes('<')) return bare;
  let text = bare;
  for (let before = ''; text !== before;) {
    before = text;
    text = text.replace(/\([^()]*\)/g, '');
  }
  return text.replace(/(?:::(?:\{lambda#\d+\}|operator)(?: const)?)+/g, '').replaceAll(' >', '>');
}

/* Those of `names` that `label` does not tell apart. */
function alike(names: readonly string[], label: (name: string) => string): string[] {
  const labels = names.map(label);
  return names.filter((_name, at) => labels.indexOf(labels[at]!) !== labels.lastIndexOf(labels[at]!));
}

function sharedLength(names: readonly string[]): number {
  let length = names[0]!.length;
  for (const name of names) {
    let same = 0;
    while (same < length && name[same] === names[0]![same]) same++;
    length = same;
  }
  return length;
}

const isParted = (letter: string): boolean => /[^A-Za-z0-9]/.test(letter);

/* All from `from` to `to`, and of both ends as much as there is room for. */
function withMiddle(label: string, from: number, to: number, room: number): string {
  const spare = Math.max(0, room - 2 - HEAD - TAIL - (to - from));
  const head = Math.min(from, HEAD + Math.ceil(spare / 2));
  const tail = Math.min(label.length - to, TAIL + Math.floor(spare / 2));
  const before = label.slice(0, head) + (head < from ? '…' : '');
  const after = (tail < label.length - to ? '…' : '') + label.slice(label.length - tail);
  return before + label.slice(from, to) + after;
}

/* Labels that are longer than their room would look alike once they are cut, where their ends are the same: of
 * those the middle shows. */
function showMiddles(labels: Map<string, string>, room: number): void {
  const kept = Math.floor(room / 2);
  const ends = new Map<string, string[]>();
  for (const label of new Set(labels.values())) {
    if (label.length <= room) continue;
    const cut = label.slice(0, kept) + label.slice(-kept);
    ends.set(cut, [...(ends.get(cut) ?? []), label]);
  }
  const middles = new Map<string, string>();
  for (const family of [...ends.values()].filter((all) => all.length > 1)) {
    let from = sharedLength(family);
    let back = sharedLength(family.map((label) => [...label].reverse().join('')));
    const one = family[0]!;
    while (from > HEAD && !isParted(one[from - 1]!)) from--;
    while (back > TAIL && !isParted(one[one.length - back]!)) back--;
    const short = family.map((label) =>
      label.length - back > from ? withMiddle(label, from, label.length - back, Math.max(ROOM, room / 2)) : label,
    );
    if (new Set(short).size === family.length) family.forEach((label, at) => middles.set(label, short[at]!));
  }
  const uses = new Map<string, number>(); // families may have the same middles
  for (const short of middles.values()) uses.set(short, (uses.get(short) ?? 0) + 1);
  for (const [label, short] of middles) if (uses.get(short)! > 1) middles.delete(label);
  for (const [name, label] of labels) labels.set(name, middles.get(label) ?? label);
}

/* C++ has a result before the name, or pointers among the parameters: `PjitFunction(f)` has neither. */
const isSpelled = (name: string): boolean => name.startsWith('void ') || /\*[,)]/.test(name);

/* What a place that is too narrow for the name shows: `void at::f<T>(int)` -> `f<T>`,
 * `$model.py:10 layer` -> `layer`. */
export function telling(name: string): string {
  if (name.startsWith('$')) return name.slice(name.lastIndexOf(' ') + 1) || name;
  return isSpelled(name) ? withoutInner(bareKernel(name)) : name;
}

/* The same where not all names are of kernels. */
export const spelledLabels = (names: readonly string[], room = ROOM): Map<string, string> =>
  kernelLabels(
    names.filter((name) => isSpelled(name) || !/[<(]/.test(name)),
    room,
  );

/* By name; equal ones only where names are. */
export function kernelLabels(names: readonly string[], room = ROOM): Map<string, string> {
  const labels = new Map<string, string>();
  const families = new Map<string, string[]>();
  for (const name of names) {
    if (labels.has(name)) continue;
    const bare = bareKernel(name);
    const head = bare.includes('<') ? bare.slice(0, bare.indexOf('<')) : bare;
    labels.set(name, withoutInner(bare));
    families.set(head, [...(families.get(head) ?? []), name]);
  }
  for (const [head, family] of families) {
    const told = (name: string): string => labels.get(name)!;
    for (const name of alike(family, told)) labels.set(name, bareKernel(name));
    const left = alike(family, told);
    for (const name of left) labels.set(name, name); // parameters alone tell them apart
    if (family.length === 1 || left.length > 0) continue;
    const bare = family.map(told);
    const shared = sharedLength(bare);
    const from = Math.max(
      head.length + 1,
      ...['<', ',', ' '].map((sign) => bare[0]!.lastIndexOf(sign, shared - 1) + 1),
    );
    if (from - head.length - 1 < SHARED_MIN) continue;
    for (const name of family) labels.set(name, `${head}<…${labels.get(name)!.slice(from)}`);
  }
  showMiddles(labels, room);
  return labels;
}
