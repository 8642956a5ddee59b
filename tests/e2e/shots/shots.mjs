/* SPDX-License-Identifier: Apache-2.0 */
/* Every page x theme x width x run as PNG:
 *
 *   node shots.mjs DIR [--views A,B] [--sizes 1280x720,3840x2160] [--themes dark] [--over PATH]... [RUN...]
 *
 * node shots.mjs DIR --docs takes the pictures of the documents instead (pictures.mjs), over the samples.
 *
 * The runs are the samples', those below each PATH, or those of the server at $JVIEWD_URL; without RUN
 * all of them. A view may carry further keys of the address, as `steps&by=idle`. What the console says,
 * a page that does not come to rest and one wider than its window are told, and end the program with 1.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, openPage, settle } from '../browser.mjs';
import { number, PICTURES, SIZE } from './pictures.mjs';
import { ready, startOwn, startServer } from '../server.mjs';
import { VIEWS } from '../views.mjs';

const LISTS = { runs: '?view=runs', settings: '?view=settings' };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    views: { type: 'string', default: [...Object.keys(LISTS), ...Object.keys(VIEWS)].join() },
    sizes: { type: 'string', default: '1280x720,2560x1440' },
    themes: { type: 'string', default: 'light,dark' },
    over: { type: 'string', multiple: true, default: [] },
    docs: { type: 'boolean', default: false },
  },
});
const [dir, ...asked] = positionals;
if (!dir) {
  console.error('usage: shots.mjs DIR [--views A,B] [--sizes WxH,...] [--themes light,dark] [--over PATH]... [RUN...]');
  process.exit(2);
}
mkdirSync(dir, { recursive: true });
const server = values.over.length > 0 ? await startOwn(values.over, ready) : await startServer();
const browser = await launch();
const faults = [];

const spelled = (name) => name.replaceAll(/[^\w.-]+/g, '_');

/* What a view of a run is called as a file, and where it stands. */
function* placesOf(run, views) {
  for (const view of views.filter((one) => !(one in LISTS) && one !== 'compare'))
    yield [`${spelled(run)}-${spelled(view)}`, `?run=${encodeURIComponent(run)}&view=${view}`];
}

function* places(runs, views) {
  for (const view of views) if (view in LISTS) yield [view, LISTS[view]];
  const [last, former] = [runs.at(-1), runs.at(-2)];
  if (views.includes('compare') && former !== undefined)
    yield ['compare', `?${new URLSearchParams({ view: 'compare', a: last, b: former })}`];
  for (const run of runs) yield* placesOf(run, views);
}

async function shoot({ page, complaints }, name, query, marks = []) {
  const before = complaints.length;
  const fault = (words) => faults.push(`${name}: ${words}`);
  await page.goto(server.url + query);
  await settle(page).catch((error) => fault(error.message));
  await number(page, marks);
  await page.screenshot({ path: join(dir, `${name}.png`) });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) fault(`${over} px wider than the window`);
  complaints.slice(before).forEach(fault);
  console.log(`${name}.png`);
}

async function takeForDocs() {
  const one = await openPage(browser, server.url, { viewport: SIZE, colorScheme: 'light' });
  for (const { name, query, marks } of Object.values(PICTURES).flat()) await shoot(one, name, query, marks);
  await one.context.close();
}

async function takeViews() {
  const list = await fetch(`${server.url}api/runs?limit=1000`).then((reply) => reply.json());
  const runs = asked.length > 0 ? asked : list.runs.map((run) => run.name);
  for (const size of values.sizes.split(','))
    for (const theme of values.themes.split(',')) {
      const [width, height] = size.split('x').map(Number);
      const one = await openPage(browser, server.url, { viewport: { width, height }, colorScheme: theme });
      for (const [name, query] of places(runs, values.views.split(',')))
        await shoot(one, `${name}-${theme}-${width}`, query);
      await one.context.close();
    }
}

try {
  await (values.docs ? takeForDocs() : takeViews());
} finally {
  await browser.close();
  server.stop();
}
faults.forEach((fault) => console.error(fault));
process.exit(faults.length > 0 ? 1 : 0);
