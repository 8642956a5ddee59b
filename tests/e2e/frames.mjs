/* SPDX-License-Identifier: Apache-2.0 */
/* How smooth the timeline is: pans and zooms for 300 frames, as a hand would.
 *
 *   $JVIEWD_URL or the samples; node frames.mjs [RUN]     prints  name value unit
 *
 * script: main thread per painted frame; frame: from one animation frame to the next, beside that of
 * an empty canvas in the same browser; covered: rows painted from a tile or a coarser one.
 */
import { pathToFileURL } from 'node:url';
import { launch, openPage, settle } from './browser.mjs';
import { startServer } from './server.mjs';

const FRAMES = 300;

const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)];

/* Runs in the page. */
function drive(frames) {
  return new Promise((resolve) => {
    const canvas = document.querySelector('.tracks-canvas');
    const box = canvas.getBoundingClientRect();
    const result = { frame: [], script: [], rows: 0, covered: 0, long: 0 };
    const watch = new PerformanceObserver(
      (list) => (result.long += list.getEntries().filter((entry) => entry.duration > 50).length),
    );
    watch.observe({ entryTypes: ['longtask'] });
    let count = 0;
    let before = performance.now();
    const step = (now) => {
      if (count > 2) {
        result.frame.push(now - before);
        result.script.push(Number(canvas.dataset.script));
      }
      before = now;
      if (count % 10 === 9) {
        result.rows += Number(canvas.dataset.rows);
        result.covered += Number(canvas.dataset.covered);
      }
      if (count++ === frames) {
        watch.disconnect();
        resolve(result);
        return;
      }
      const phase = Math.floor(count / 50) % 6;
      const zooming = phase % 2 === 0;
      const options = {
        bubbles: true,
        cancelable: true,
        clientX: box.left + box.width * 0.4,
        clientY: box.top + box.height / 2,
        deltaY: zooming ? (phase < 3 ? -60 : 45) : 0,
        deltaX: zooming ? 0 : phase === 3 ? -24 : 24,
        ctrlKey: zooming,
      };
      canvas.dispatchEvent(new WheelEvent('wheel', options));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

function driveEmpty(frames) {
  return new Promise((resolve) => {
    const canvas = document.body.appendChild(document.createElement('canvas'));
    canvas.width = innerWidth;
    canvas.height = innerHeight;
    const context = canvas.getContext('2d', { alpha: false });
    const times = [];
    let before = performance.now();
    const step = (now) => {
      times.push(now - before);
      before = now;
      context.fillRect(0, 0, canvas.width, canvas.height);
      if (times.length > frames) resolve(times.slice(3));
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

/* `around` measures what else the moving costs; its result is handed on. */
export async function measureFrames(browser, url, run, { frames = FRAMES, around = (body) => body() } = {}) {
  const { page, context } = await openPage(browser, url, {
    viewport: { width: 1600, height: 1000 },
    reducedMotion: 'no-preference',
  });
  try {
    await page.goto('about:blank');
    const empty = await page.evaluate(driveEmpty, frames);
    await page.goto(`${url}?run=${encodeURIComponent(run)}&view=timeline`);
    await settle(page);
    let moved;
    const cost = await around(async () => (moved = await page.evaluate(drive, frames)), page);
    return {
      script_p50: quantile(moved.script, 0.5),
      script_p95: quantile(moved.script, 0.95),
      frame_p50: quantile(moved.frame, 0.5),
      frame_p95: quantile(moved.frame, 0.95),
      empty_p95: quantile(empty, 0.95),
      covered: moved.rows === 0 ? 1 : moved.covered / moved.rows,
      long_tasks: moved.long,
      ...(typeof cost === 'number' ? { around: cost } : {}),
    };
  } finally {
    await context.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await startServer();
  const browser = await launch();
  try {
    const figures = await measureFrames(browser, server.url, process.argv[2] ?? 'latest');
    for (const [name, value] of Object.entries(figures))
      console.log(`timeline_${name} ${value.toFixed(3)} ${/p\d\d/.test(name) ? 'ms' : '1'}`);
  } finally {
    await browser.close();
    server.stop();
  }
}
