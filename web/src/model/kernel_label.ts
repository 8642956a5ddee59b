/* Names of kernels made short in a table: C++ spells templates, and what all of a family begin with says nothing.
 *
 *   void at::native::reduce_kernel<512, 1, ReduceOp<float>>(ReduceOp<float>)   ->   reduce_kernel<512, 1, ReduceOp<float>>
 *   EigenMetaKernel<A<B, sum>>, EigenMetaKernel<A<B, product>>                 ->   EigenMetaKernel<…sum>>, EigenMetaKernel<…product>>
 */

const SHARED_MIN = 16; // as much of a common beginning as is worth a sign of its own

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

function sharedLength(names: readonly string[]): number {
  let length = names[0]!.length;
  for (const name of names) {
    let same = 0;
    while (same < length && name[same] === names[0]![same]) same++;
    length = same;
  }
  return length;
}

/* By name; equal ones only where names are. */
export function kernelLabels(names: readonly string[]): Map<string, string> {
  const labels = new Map<string, string>();
  const families = new Map<string, string[]>();
  for (const name of names) {
    if (labels.has(name)) continue;
    const bare = bareKernel(name);
    const head = bare.includes('<') ? bare.slice(0, bare.indexOf('<')) : bare;
    labels.set(name, bare);
    families.set(head, [...(families.get(head) ?? []), name]);
  }
  for (const [head, family] of families) {
    const bare = family.map((name) => labels.get(name)!);
    if (new Set(bare).size < family.length) {
      for (const name of family) labels.set(name, name); // parameters alone tell them apart
      continue;
    }
    if (family.length === 1) continue;
    const shared = sharedLength(bare);
    const from = Math.max(head.length + 1, ...['<', ',', ' '].map((sign) => bare[0]!.lastIndexOf(sign, shared - 1) + 1));
    if (from - head.length - 1 < SHARED_MIN) continue;
    for (const name of family) labels.set(name, `${head}<…${labels.get(name)!.slice(from)}`);
  }
  return labels;
}
