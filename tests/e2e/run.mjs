/* SPDX-License-Identifier: Apache-2.0 */
/* The browser's tests: node run.mjs [PART OF A TITLE]
 *
 *   lane 1   Chromium and server of its own   test, test, test, ...
 *   lane 2   Chromium and server of its own   test, test, ...          then, on lane 1, those that measure
 *
 * Each test opens its own page, so the next free lane takes the next one; what a test writes on the
 * server the tests of no other lane see. A failed one does not stop the rest; it has a second turn at
 * the end, alone: what passes only then is named as unsteady, with what it said at first. A file may
 * name the tests that measure, and so have the machine for themselves, as `alone`.
 *
 * Printed is a line a file and what went wrong; a line a test where only some were asked for.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { launch } from './browser.mjs';
import { startServer } from './server.mjs';

const LANES_MAX = 4;

const pattern = process.argv[2] ?? '';
const names = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.test.mjs'))
  .sort();
const together = [];
const apart = [];
const files = new Map(); // name -> { left, passed, ms }
const unsteady = [];
const failed = [];

for (const name of names) {
  const { tests, alone = [] } = await import(`./${name}`);
  const file = name.replace('.test.mjs', '');
  for (const [words, test] of Object.entries(tests)) {
    const title = `${file}: ${words}`;
    if (!title.includes(pattern)) continue;
    (alone.includes(words) ? apart : together).push({ file, title, test, before: null });
    const tally = files.get(file) ?? { left: 0, passed: 0, ms: 0 };
    files.set(file, { ...tally, left: tally.left + 1 });
  }
}

const wordsOf = (error) => String(error?.stack ?? error);

function failedIn({ file, title, test, before }, error) {
  if (before === null) {
    console.log(`AGAIN   ${title}\n${wordsOf(error)}`);
    apart.push({ file, title, test, before: wordsOf(error) });
    return false;
  }
  failed.push({ title, words: wordsOf(error) });
  console.log(`FAILED  ${title}\n${wordsOf(error)}`);
  return true;
}

async function run(one, lane) {
  const begin = Date.now();
  const tally = files.get(one.file);
  let isOver = true;
  try {
    await one.test(lane);
    tally.passed++;
    if (one.before !== null) unsteady.push({ title: one.title, words: one.before });
    if (pattern !== '') console.log(`ok      ${one.title} (${Date.now() - begin} ms)`);
  } catch (error) {
    isOver = failedIn(one, error);
  }
  tally.ms += Date.now() - begin;
  if (isOver && --tally.left === 0) {
    const [passed, seconds] = [tally.passed, Math.round(tally.ms / 1000)].map(String);
    console.log(`${one.file.padEnd(16)}${passed.padStart(4)} passed${seconds.padStart(6)} s`);
  }
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
for (let next = apart.shift(); next; next = apart.shift()) await run(next, lanes[0]);
await lanes[0].close();

const passed = [...files.values()].reduce((sum, tally) => sum + tally.passed, 0);
const firstLine = ({ title, words }) => `${title}: ${words.split('\n')[0]}`;
unsteady.forEach((one) => console.log(`unsteady: ${firstLine(one)}`));
failed.forEach((one) => console.log(`failed: ${firstLine(one)}`));
const seconds = Math.round((Date.now() - begin) / 1000);
console.log(
  `${passed} passed, ${unsteady.length} of them at their second turn; ${failed.length} failed, ` +
    `in ${seconds} s with ${count} browsers`,
);
process.exit(failed.length > 0 ? 1 : 0);
