/* Panning and zooming stay smooth, and what is on the screen is always painted from something. The
 * time from frame to frame is printed, not judged: it is the machine's as much as ours. */
import assert from 'node:assert/strict';
import { measureFrames } from './frames.mjs';

const SCRIPT_P95_MS = 12;
const FRAME_MS = 17;
const TRIES = 5;

/* Where an empty canvas misses frames, others have the processor: by as much ours may take longer. */
const allowed = ({ empty_p95: empty }) => SCRIPT_P95_MS * Math.max(1, empty / FRAME_MS);

export const tests = {
  'pan and zoom': async ({ browser, url }) => {
    let figures;
    for (let turn = 0; turn < TRIES; turn++) {
      figures = await measureFrames(browser, url, 'step_1500');
      console.log(`        ${Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ')}`);
      if (figures.script_p95 <= allowed(figures)) break;
    }
    assert.ok(figures.covered >= 0.95, `${figures.covered} of the rows were painted from a tile`);
    assert.ok(figures.script_p50 <= SCRIPT_P95_MS / 2, `script p50 ${figures.script_p50} ms`);
    assert.ok(figures.script_p95 <= allowed(figures), `script p95 ${figures.script_p95} ms, ${allowed(figures)} allowed`);
  },
};
export const alone = Object.keys(tests);
