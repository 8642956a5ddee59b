/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives beneath hosts: the sentence, the picture of arrivals and the table say what the server says. */
import assert from 'node:assert/strict';
import { openPage, settle, until } from './browser.mjs';

const row = (name, exposed, more) => ({
  name,
  kind: 'all-reduce',
  axis: '2 devices, stride 1',
  group_size: 2,
  bytes: 131072,
  count: 12,
  total_ps: 40e9,
  exposed_ps: exposed,
  hidden_ps: 40e9 - exposed,
  exposed_share: exposed / 40e9,
  mean_ps: 3e9,
  max_ps: 4e9,
  bus_bytes_per_s: 3e8,
  moving_bus_bytes_per_s: 6e8,
  wait_ps: 8e9,
  wait_share: 0.2,
  last: 'device 1',
  last_share: 0.9,
  algorithm: 'ring',
  protocol: 'LL',
  dtype: 'f32',
  members: '{0,1}',
  module: 'jit_f',
  scope: null,
  longest: 'aaaaaaaa-1',
  longest_start_ps: 0,
  reasons: {},
  ...more,
});
const arrival = (turn, device, start, length, wait) => ({
  name: 'all-reduce.1',
  turn,
  group: 0,
  host: 'h',
  device,
  start_ps: start,
  dur_ps: length,
  wait_ps: wait,
  late_ps: wait > 0 ? 0 : 2e9,
  last: wait === 0,
  exposed_ps: length,
  slice: `aaaaaaaa-${device}`,
});
const page_of = (rows, more) => ({ rows, row_count: rows.length, next: null, notes: [], approx: [], ...more });
const spokenOf = async (chart) => (await chart.getAttribute('aria-valuetext')).replaceAll('\u202f', ' ');
const words = async (page) => (await page.locator('.collectives').innerText()).replaceAll('\u202f', ' ');

export const tests = {
  'collectives: what is exposed, who came when, and where a click leads': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.route('**/api/collectives?**', (route) => {
        const asked = new URL(route.request().url()).searchParams;
        if (asked.get('view') === 'arrivals') {
          assert.equal(asked.get('name'), 'all-reduce.1');
          return route.fulfill({
            json: page_of(
              [0, 1].flatMap((turn) => [
                arrival(turn, 0, turn * 9e9, 4e9, 2e9),
                arrival(turn, 1, turn * 9e9 + 2e9, 2e9, 0),
              ]),
            ),
          });
        }
        return route.fulfill({
          json: page_of([row('all-reduce.1', 30e9), row('all-gather.2', 10e9)], {
            by: asked.get('by'),
            total_ps: 80e9,
            exposed_ps: 40e9,
          }),
        });
      });
      await page.goto(`${url}?run=step_1000&view=hosts`);
      await settle(page);
      assert.match(
        await words(page),
        new RegExp(
          'Devices communicate 80\\.0 ms in all, 50 % of it exposed: all-reduce\\.1 has 75 % of that; ' +
            '20 % is waiting for the last device, most often device 1\\.',
        ),
      );
      assert.match(
        await words(page),
        new RegExp(
          'all-reduce\\.1: 2 executions on one scale; the longest takes 4\\.00 ms\\. ' +
            'Pale: waits for the last device\\.',
        ),
      );
      const bars = page.locator('.collectives .table .cell-bar > span');
      const shares = await bars.evaluateAll((all) => all.map((one) => parseFloat(one.style.width)));
      assert.deepEqual(shares, [75, 25], 'of all that is exposed');
      await page.locator('.collectives .toolbar select').first().selectOption('axis');
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('collectives'), 'axis');
      await page.goBack();
      await settle(page);
      const chart = page.getByRole('slider', { name: /^Arrival times in 2 executions/ });
      const told = async (key, text) => {
        await page.keyboard.press(key);
        await until(page, `${key}: ${text}`, async () => (await spokenOf(chart)) === text);
      };
      await chart.focus();
      await told('ArrowDown', 'device 1, execution 0: 2.00 ms, came last');
      await told('ArrowRight', 'device 1, execution 1: 2.00 ms, came last');
      await told('ArrowDown', 'device 1, execution 1: 2.00 ms, came last'); // the lowest
      await told('ArrowUp', 'device 0, execution 1: 4.00 ms, waits 2.00 ms');
      assert.match(
        (await page.locator('.tooltip').innerText()).replaceAll('\u202f', ' '),
        /waits 2\.00 ms for the last/,
      );
      await page.keyboard.press('Enter');
      await until(page, 'its slice', (now) => now.view === 'timeline' && now.slice === 'aaaaaaaa-0');
      await page.goBack();
      await settle(page);
      const box = await page.locator('.collectives .canvas-box').boundingBox();
      await page.mouse.click(box.x + 160 + 20, box.y + 18 + 8);
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('view'), 'timeline');
      assert.equal(new URL(page.url()).searchParams.get('slice'), 'aaaaaaaa-0');
      assert.deepEqual(
        complaints.filter((text) => !text.includes('404')),
        [],
      );
    } finally {
      await context.close();
    }
  },
};
