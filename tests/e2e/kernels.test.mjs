/* Kernels: absent on a CPU with the reason, its annotations there; and with kernels the table that the server gives. */
import assert from 'node:assert/strict';
import { openPage, settle } from './browser.mjs';

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');

const row = (name, more) => ({
  key: name, name, kind: 'compute', count: 40, total_ps: 8e9, self_ps: 8e9, share: 0.8, mean_ps: 2e8, stdev_ps: 0, min_ps: 2e8, p50_ps: 2e8, p95_ps: 2e8, max_ps: 2e8, variant_count: 1,
  grid: '128,1,1', block: '256,1,1', registers: 168, shared_bytes: 49152, occupancy: 0.375, limited_by: 'registers', tensor_core: true, tensor_core_by: 'by name: gmma', queue_p50_ps: 5e6,
  launch_p50_ps: 9e6, call_p50_ps: 4e6, gap_p50_ps: 0, launch_count: 40, graph_count: 0, op: null, module: null, scope: null, source: null, ncu: "ncu --kernel-name 'x'", reasons: {}, ...more,
});
const reply = (rows) => ({
  run: { id: 'r', name: 'step_1000' }, by: 'kernel', of: 'device', total_ps: 10e9, total_self_ps: 10e9, launch_count: 80, occupancy_known_ps: 10e9, half_occupancy_ps: 8e9, tensor_core_known_ps: 10e9,
  tensor_core_ps: 8e9, graph_ps: 0, missing: null, row_count: rows.length, next: null, rows, notes: [], approx: [],
});

export const tests = {
  'a run on a CPU has none, and says why; its annotations have their device time': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=kernels`);
      await settle(page);
      assert.match(await words(page), /No GPU is in this profile/);
      assert.match((await page.locator('nav .absent').allInnerTexts()).join(' '), /Kernels –/);
      await page.locator('main a', { hasText: 'annotations' }).click();
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('by'), 'annotation');
      assert.match(await words(page), /annotations? launched \d+ % of [\d.]+ ms of device time\./);
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
  'kernels with shape, occupancy and what limits it': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.route('**/api/run?**', async (route) => {
        const answer = await route.fetch();
        const run = await answer.json();
        await route.fulfill({ response: answer, json: { ...run, views: { ...run.views, kernels: null } } });
      });
      await page.route('**/api/kernels?**', (route) =>
        route.fulfill({ json: reply([row('gemm'), row('add', { total_ps: 2e9, share: 0.2, variant_count: 3, grid: null, block: null, registers: null, occupancy: null, limited_by: null, tensor_core: null })]) }));
      await page.goto(`${url}?run=step_1000&view=kernels`);
      await settle(page);
      const text = await words(page);
      assert.match(text, /^2 kernels take 10\.0 ms; 80 % of it below half occupancy, 80 % on tensor cores\./);
      for (const part of ['128,1,1', '37.5 %', 'registers', '3 shapes', 'yes']) assert.ok(text.includes(part), part);
      await page.locator('main a', { hasText: '3 shapes' }).click();
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('by'), 'variant');
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
