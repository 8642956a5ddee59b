/* SPDX-License-Identifier: Apache-2.0 */
/* Idle stretches in a row of busy shares.
 *
 *   busy   1 1 0 0 0 1 0 1 1 0 0 0 0 1
 *              `-3-'         `--4--'      those of at least `least` quanta
 */
export interface Gap {
  from: number; // first idle quantum
  to: number; // the one after the last
}

/* The first one that begins at or after `at`; looking back, the last one that ends at or before it. */
export function gapFrom(busy: readonly boolean[], at: number, least: number, direction: 1 | -1): Gap | null {
  const gaps: Gap[] = [];
  let from = -1;
  for (let index = 0; index <= busy.length; index++) {
    const idle = index < busy.length && !busy[index];
    if (idle && from < 0) from = index;
    if (!idle && from >= 0) {
      if (index - from >= least) gaps.push({ from, to: index });
      from = -1;
    }
  }
  if (direction > 0) return gaps.find((gap) => gap.from >= at) ?? null;
  return gaps.findLast((gap) => gap.to <= at) ?? null;
}
