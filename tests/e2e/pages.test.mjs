/* SPDX-License-Identifier: Apache-2.0 */
/* Every page opens, says its sentence, stays within the origin, complains of nothing, and has no
 * serious fault that axe can find; in both themes. */
import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { json, openPage, settle } from './browser.mjs';

const MISSING = '?run=step_100'; // is asked for, and is not there

/* Each arc leads from the row of what gives to the row of what takes, and none is missing. */
async function arcs(page, url) {
  const { instruction: of } = await json(url, 'api/hlo?run=step_1000&module=jit_train_step&instruction=dot.63');
  const rows = await page
    .locator('.hlo-graph li')
    .evaluateAll((all) => all.map((one) => one.querySelector('strong, a')?.textContent ?? null));
  const drawn = await page.locator('.hlo-graph path').evaluateAll((all) =>
    all.map((one) =>
      /^M\S+ (\S+)C.* (\S+)m/
        .exec(one.getAttribute('d'))
        .slice(1)
        .map((y) => (y - 12) / 24),
    ),
  );
  const known = new Set([of.name, ...of.neighbours.map((one) => one.name)]);
  const given = (one) =>
    one === of ? of.neighbours.filter(({ distance }) => distance === -1).map(({ name }) => name) : (one.operands ?? []);
  const told = [of, ...of.neighbours].flatMap((one) =>
    [...new Set(given(one))].filter((name) => known.has(name)).map((name) => `${name} > ${one.name}`),
  );
  assert.ok(told.length > 1);
  assert.deepEqual(drawn.map(([from, to]) => `${rows[from]} > ${rows[to]}`).sort(), told.sort());
}

const PAGES = {
  runs: ['?view=runs', /\d+ runs\. The newest with steps, step_\d+, takes/],
  overview: ['?run=step_1000', /A step takes [\d.]+ \w+ \(± /],
  timeline: ['?run=step_1000&view=timeline', /In view: all [\d.]+ ms/],
  ops: ['?run=step_1000&view=ops', /\d+ ops take [\d.]+ \w+ on devices/],
  'ops by scope': ['?run=step_1000&view=ops&by=scope', /\d+ scopes take/],
  flame: ['?run=step_1000&view=flame', /takes [\d.]+ % of device time/],
  steps: ['?run=step_1000&view=steps', /5 steps, median [\d.]+ ms/],
  'steps by device': ['?run=step_1000&view=steps&by=devices', /busy \(ms\)/],
  'steps, idle time': ['?run=step_1000&view=steps&by=idle', /device is idle/],
  why: ['?run=step_1000&view=why', /5 steps take [\d.]+ ms\. [\d.]+ % lies in/],
  'why, by kind': ['?run=step_1000&view=why&by=kind', /Overlap communication/],
  kernels: ['?run=step_1000&view=kernels', /The profile holds no GPU/],
  annotations: ['?run=step_1000&view=kernels&by=annotation', /\d+ annotations launched/],
  compiles: ['?run=step_1500&view=compiles', /was compiled/],
  transfers: ['?run=step_1000&view=transfers', /No |no |Nothing /],
  hosts: ['?run=step_1000&view=hosts', /A step takes [\d.]+ ms on 1 device/],
  threads: ['?run=step_1000&view=threads', /\d+ threads; python was busy longest: [\d.]+ ms, [>\d.]+ % of the time/],
  roofline: ['?run=step_1000&view=roofline', /does [\d.]+ GFLOP\/s/],
  memory: ['?run=step_1000&view=memory', /needs .* at most/],
  hlo: ['?run=step_1000&view=hlo', /jit_train_step: \d+ instructions, \d+ fusions; run 5 times in [\d.]+ ms/],
  'an instruction': ['?run=step_1000&view=hlo&module=jit_train_step&name=dot.63', /Operands 2/, arcs],
  'instructions found': ['?run=step_1000&view=hlo&q=attention', /\d+ instructions\. Close/],
  files: ['?run=step_1000&view=files', /2 files, [\d.]+ KiB/],
  'runs in groups': ['?view=runs&group=name', /step_\*/],
  'gaps in groups': ['?run=step_1000&view=steps&by=gaps&group=cause', /is idle/],
  'unknown run': [MISSING, /step_1000/],
  'odd address': ['?run=step_1000&view=timeline&window=9-1', /window=9-1 is no START-END/],
};

/* What lies over a page, or unfolds in it, opened by hand. */
const LAYERS = {
  help: ['?run=step_1000', (page) => page.keyboard.press('?')],
  palette: ['?run=step_1000&view=timeline', (page) => page.keyboard.press('Control+k')],
  'hand-over': ['?run=step_1000&view=perfetto', (page) => page.getByRole('dialog').waitFor()],
  'menu of a slice': [
    '?run=step_1000&view=timeline',
    async (page) => {
      const box = await page.locator('.tracks-canvas').boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + 32, { button: 'right' });
      await page.getByRole('menu').waitFor();
    },
  ],
  'marks, a box, a pinned track': [
    '?run=step_1000&view=timeline',
    async (page) => {
      await page.getByRole('treeitem').nth(1).click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Pin' }).click();
      await page.keyboard.press('Shift+M');
      await page.getByRole('button', { name: /^Mark/ }).waitFor();
    },
  ],
  'columns to choose': [
    '?run=step_1000&view=ops&group=category',
    (page) => page.getByRole('button', { name: 'columns' }).click(),
  ],
  'relatives in the flame graph': [
    '?run=step_1000&view=flame&by=track&zoom=python',
    (page) => page.locator('.relatives').waitFor(),
  ],
};

function visit([query, words, look = async () => undefined]) {
  return async ({ browser, url }) => {
    const { page, context, foreign, complaints } = await openPage(browser, url);
    try {
      await page.goto(url + query);
      await settle(page);
      const text = (await page.locator('body').innerText()).replaceAll('\u202f', ' ');
      assert.match(text, words);
      await look(page, url);
      await assertAccessible(page);
      assert.deepEqual(foreign, [], 'requests that leave the origin');
      assert.deepEqual(
        complaints.filter((one) => query !== MISSING || !/status of 404/.test(one)),
        [],
        'the console',
      );
      assert.equal(await page.locator('[style*="expression"], script:not([src])').count(), 0);
    } finally {
      await context.close();
    }
  };
}

function visitLayer([query, open]) {
  return async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.goto(url + query);
      await settle(page);
      await open(page);
      await assertAccessible(page);
      assert.deepEqual(complaints, [], 'the console');
    } finally {
      await context.close();
    }
  };
}

const each = (all, make) => Object.entries(all).map(([name, one]) => [name, make(one)]);

export const tests = Object.fromEntries([...each(PAGES, visit), ...each(LAYERS, visitLayer)]);
