/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and hosts: what stands in the tables is what the server says, by each division. */
import assert from 'node:assert/strict';
import { json, openPage, settle, until, windowOf } from './browser.mjs';

const host = (name, more) => ({
  name,
  host: name,
  device: null,
  device_count: 8,
  step_count: 6,
  step_median_ps: 11e9,
  step_min_ps: 10e9,
  step_max_ps: 12e9,
  busy_ps: 60e9,
  idle_ps: 20e9,
  busy_share: 0.75,
  communication_ps: 30e9,
  hidden_communication_ps: 0,
  op_wait_ps: 0,
  wait_ps: 0,
  wait_share: 0,
  last_count: 0,
  compared_count: 6,
  lag_ps: null,
  skew_ps: null,
  straggler: false,
  reasons: {},
  ...more,
});
const cell = (step, name, wait, last) => ({
  step,
  host: name,
  device: null,
  start_ps: step * 20e9,
  end_ps: step * 20e9 + 11e9,
  dur_ps: 11e9,
  end_lag_ps: 0,
  communication_ps: 5e9,
  wait_ps: wait,
  lag_ps: last ? 7e9 : null,
  last,
});
const reply = (rows) => ({
  by: 'host',
  view: 'table',
  rule: 'annotation',
  confidence: 'high',
  step_count: 6,
  compared_count: 6,
  basis: 'communication',
  rows,
  row_count: rows.length,
  next: null,
  notes: [],
  approx: [],
});

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');

export const tests = {
  'steps by step, device, idle time and gap': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=steps`);
      await settle(page);
      assert.match(await words(page), /^5 steps, median \d/);
      assert.match(await words(page), /confidence high: the program marks them/);
      for (const [by, label] of [
        ['devices', 'Steps by device'],
        ['idle', 'Idle time by cause'],
        ['gaps', 'Idle gaps'],
      ]) {
        await page.locator('.toolbar select').first().selectOption(by);
        await settle(page);
        assert.equal(new URL(page.url()).searchParams.get('by'), by);
        assert.equal(await page.locator(`[aria-label="${label}"]`).count(), 1, label);
      }
      assert.match(await words(page), /The device is idle [\d.]+ m?s: in \d+ % of it the host/);
      const { rows } = await json(url, 'api/steps?run=step_1000&view=idle');
      const gaps = await json(url, 'api/steps?run=step_1000&view=gaps&limit=1');
      const idle = rows.reduce((sum, row) => sum + row.idle_ps, 0);
      const bar = page.locator('[aria-label="Idle gaps"] .cell-bar > span').first();
      const width = parseFloat(await bar.evaluate((one) => one.style.width));
      assert.ok(Math.abs(width - (100 * gaps.rows[0].dur_ps) / idle) < 0.01, `${width} % for the longest of them`);
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
  'hosts: who comes last is said, drawn and told under the pointer': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.route('**/api/hosts?**', (route) => {
        const grid = new URL(route.request().url()).searchParams.get('view') === 'grid';
        const cells = [0, 1, 2, 3, 4, 5].flatMap((step) => [
          cell(step, 'hostA', 7e9, false),
          cell(step, 'hostB', 0, true),
        ]);
        return route.fulfill({
          json: reply(
            grid
              ? cells
              : [
                  host('hostA', { wait_ps: 42e9, wait_share: 0.5 }),
                  host('hostB', { last_count: 6, lag_ps: 7e9, straggler: true }),
                ],
          ),
        });
      });
      await page.goto(`${url}?run=step_1000&view=hosts&by=host`);
      await settle(page);
      assert.match(
        await words(page),
        new RegExp(
          '^hostB comes last in 6 of 6 steps, at the median by 7\\.00 ms; ' +
            'waiting for the other takes 26 % of the steps\\.',
        ),
      );
      const box = await page.locator('.canvas-box').boundingBox();
      await page.mouse.move(box.x + 180, box.y + 48);
      await page.waitForFunction(() =>
        /came last: others wait up to/.test(document.querySelector('.tooltip')?.textContent ?? ''),
      );
      const grid = page.getByRole('slider', { name: /^How late each of 2 came in 6 steps/ });
      await grid.focus();
      for (const [key, text] of [
        ['ArrowRight', /^step 1 on hostA: /],
        ['ArrowDown', /^step 1 on hostB: .*, came last$/],
        ['Home', /^step 0 on hostA: /],
        ['ArrowUp', /^step 0 on hostA: /],
        ['End', /^step 5 on hostB: /],
      ]) {
        await page.keyboard.press(key);
        await until(page, `${key} tells`, async () => text.test(await grid.getAttribute('aria-valuetext')));
      }
      assert.match(await page.locator('.tooltip').innerText(), /came last: others wait up to/);
      await page.keyboard.press('Enter');
      await until(page, 'that step', (now) => now.view === 'timeline' && now.window !== undefined);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },

  'the bars of steps are walked by keys: each is told, and Enter leads to it': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      const steps = await json(url, 'api/steps?run=step_1000');
      await page.goto(`${url}?run=step_1000&view=steps`);
      await settle(page);
      const bars = page.getByRole('slider', { name: /^Time of \d+ steps/ });
      await bars.focus();
      const [first, second] = steps.rows;
      assert.match(await bars.getAttribute('aria-valuetext'), new RegExp(`^step ${first.step}: `));
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tooltip').getByText(`step ${second.step}: `).waitFor();
      assert.match(await bars.getAttribute('aria-valuetext'), new RegExp(`^step ${second.step}: `));
      await page.keyboard.press('Enter');
      await until(page, 'the timeline', (now) => now.view === 'timeline');
      const { start, end } = windowOf(page);
      assert.ok(start <= Number(second.start_ps) && end >= Number(second.start_ps) + Number(second.dur_ps));
      assert.ok(end - start < 2 * Number(second.dur_ps), 'that step alone');
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
