/* SPDX-License-Identifier: Apache-2.0 */
/* While one pans and zooms, what is on the screen is always painted from something. How long a frame
 * takes is printed, not judged: it is the machine's as much as ours, and tests/bench has its goals. */
import assert from 'node:assert/strict';
import { measureFrames } from './frames.mjs';

export const tests = {
  'pan and zoom': async ({ browser, url }) => {
    const figures = await measureFrames(browser, url, 'step_1500');
    console.log(
      `        ${Object.entries(figures)
        .map(([name, value]) => `${name} ${value.toFixed(2)}`)
        .join(', ')}`,
    );
    assert.ok(figures.covered >= 0.95, `${figures.covered} of the rows were painted from a tile`);
  },
};
export const alone = Object.keys(tests);
