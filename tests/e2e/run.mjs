/* The browser's tests: node run.mjs [PART OF A TITLE]
 *
 *   lane 1   Chromium and server of its own   test, test, test, ...
 *   lane 2   Chromium and server of its own   test, test, ...          then, on lane 1, those that measure
 *
 * Each test opens its own page, so the next free lane takes the next one; what a test writes on the
 * server the tests of no other lane see. A failed one does not stop the rest. A file may name the
 * tests that measure, and so have the machine for themselves, as `alone`.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { launch } from './browser.mjs';
import { startServer } from './server.mjs';

const LANES_MAX = 4;
const SLOWEST = 8; // files that are told

const pattern = process.argv[2] ?? '';
const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.mjs')).sort();
const together = [];
const apart = [];
const failed = [];
const fileMs = new Map();
let passed = 0;

for (const name of files) {
  const { tests, alone = [] } = await import(`./${name}`);
  const file = name.replace('.test.mjs', '');
  for (const [words, test] of Object.entries(tests)) {
    const title = `${file}: ${words}`;
    if (title.includes(pattern)) (alone.includes(words) ? apart : together).push({ file, title, test });
  }
}

async function run({ file, title, test }, lane) {
  const begin = Date.now();
  const turn = () => test(lane);
  try {
    /* What only took too long gets a second turn, and says so: a busy machine is no fault of the page. */
    await turn().catch((error) => {
      if (error.name !== 'TimeoutError') throw error;
      console.log(`AGAIN   ${title}: ${error.message.split('\n')[0]}`);
      return turn();
    });
    passed++;
    console.log(`ok      ${title} (${Date.now() - begin} ms)`);
  } catch (error) {
    failed.push(title);
    console.log(`FAILED  ${title}\n${error.stack ?? error}`);
  }
  fileMs.set(file, (fileMs.get(file) ?? 0) + Date.now() - begin);
}

async function open() {
  const [server, browser] = await Promise.all([startServer(), launch()]);
  return { browser, url: server.url, close: async () => (await browser.close(), server.stop()) };
}

const begin = Date.now();
const count = Math.min(LANES_MAX, Math.max(2, availableParallelism()), Math.max(1, together.length));
const lanes = await Promise.all(Array.from({ length: count }, open));
await Promise.all(
  lanes.map(async (lane, at) => {
    for (let next = together.shift(); next; next = together.shift()) await run(next, lane);
    if (at > 0) await lane.close();
  }),
);
for (const one of apart) await run(one, lanes[0]);
await lanes[0].close();

const slowest = [...fileMs].sort((a, b) => b[1] - a[1]).slice(0, SLOWEST);
console.log(`slowest: ${slowest.map(([file, ms]) => `${file} ${Math.round(ms / 1000)} s`).join(', ')}`);
failed.forEach((title) => console.log(`failed: ${title}`));
console.log(`${passed} passed, ${failed.length} failed in ${Math.round((Date.now() - begin) / 1000)} s with ${count} browsers`);
process.exit(failed.length > 0 ? 1 : 0);
