/* SPDX-License-Identifier: Apache-2.0 */
/* The tab's memory is bounded: what was looked at and left is let go. */
import assert from 'node:assert/strict';
import { measureHeap } from './heap.mjs';

const MIB = 2 ** 20;
const ROUNDS = 12;

export const tests = {
  'the heap does not grow while one wanders': async ({ browser, url }) => {
    const bytes = await measureHeap(browser, url, 'step_1500', ROUNDS);
    console.log(`        ${bytes.map((size) => (size / MIB).toFixed(1)).join(' ')} MiB`);
    const lowest = (part) => Math.min(...part);
    const [early, late] = [lowest(bytes.slice(2, ROUNDS / 2)), lowest(bytes.slice(ROUNDS / 2))];
    assert.ok(late - early < 3 * MIB, `grew by ${(late - early) / MIB} MiB in the last half`);
    assert.ok(Math.max(...bytes) < 150 * MIB);
  },
};
export const alone = Object.keys(tests);
