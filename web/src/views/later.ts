/* SPDX-License-Identifier: Apache-2.0 */
/* What few pages need, as one script that comes when the first of them is opened: pages that share it
 * are smaller together than each alone, and no other page waits for them. */
export { Aligned } from './compare/aligned';
export { MemoryView } from './memory/memory';
export { OpTreeView } from './op_tree';
export { SqlView } from './sql';
export { TrendPage } from './trend';
