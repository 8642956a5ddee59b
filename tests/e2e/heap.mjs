/* SPDX-License-Identifier: Apache-2.0 */
/* What the tab's memory does while one wanders: zooms and pans to ever other places, opens other views
 * and comes back.
 *
 *   $JVIEWD_URL or the samples; node heap.mjs [RUN] [ROUNDS]     prints  name value unit, a line a round
 */
import { pathToFileURL } from 'node:url';
import { launch, openPage, settle } from './browser.mjs';
import { startServer } from './server.mjs';

/* Runs in the page: to a place of its own each round, near and far. */
function wander(round) {
  return new Promise((resolve) => {
    const canvas = document.querySelector('.tracks-canvas');
    const box = canvas.getBoundingClientRect();
    let frame = 0;
    const step = () => {
      if (frame++ === 90) return resolve();
      const zooming = frame % 30 < 15;
      const options = {
        bubbles: true,
        cancelable: true,
        clientX: box.left + box.width * (((round * 37) % 100) / 100),
        clientY: box.top + box.height / 2,
        deltaY: zooming ? (frame < 60 ? -90 : 140) : 0,
        deltaX: zooming ? 0 : 60,
        ctrlKey: zooming,
      };
      canvas.dispatchEvent(new WheelEvent('wheel', options));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

const VIEWS = ['o', 'p', 'f', 's'];

/* Bytes in use after each round, rubbish collected: objects and the buffers behind them. */
export async function measureHeap(browser, url, run, rounds) {
  const { page, context } = await openPage(browser, url);
  try {
    await page.goto(`${url}?run=${encodeURIComponent(run)}&view=timeline`);
    await settle(page);
    const session = await context.newCDPSession(page);
    const bytes = [];
    for (let round = 0; round < rounds; round++) {
      await page.evaluate(wander, round);
      await page.keyboard.press('g');
      await page.keyboard.press(VIEWS[round % VIEWS.length]);
      await page.waitForTimeout(150);
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.locator('.tracks-canvas').waitFor(); // a handle would hold the page's things
      await session.send('HeapProfiler.collectGarbage');
      const usage = await session.send('Runtime.getHeapUsage');
      bytes.push(usage.usedSize + (usage.backingStorageSize ?? 0));
    }
    return bytes;
  } finally {
    await context.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await startServer();
  const browser = await launch();
  try {
    const bytes = await measureHeap(browser, server.url, process.argv[2] ?? 'latest', Number(process.argv[3] ?? 24));
    bytes.forEach((size, round) => console.log(`heap_round_${round} ${(size / 2 ** 20).toFixed(1)} MiB`));
  } finally {
    await browser.close();
    server.stop();
  }
}
