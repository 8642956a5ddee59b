/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: absent on a CPU with the reason, its annotations there; and with kernels the table that the server gives. */
import assert from 'node:assert/strict';
import { changeAnswers, openPage, settle } from './browser.mjs';

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');

const row = (name, more) => ({
  key: name,
  name,
  kind: 'compute',
  count: 40,
  total_ps: 8e9,
  self_ps: 8e9,
  share: 0.8,
  mean_ps: 2e8,
  stdev_ps: 0,
  min_ps: 2e8,
  p50_ps: 2e8,
  p95_ps: 2e8,
  max_ps: 2e8,
  variant_count: 1,
  grid: '128,1,1',
  block: '256,1,1',
  registers: 168,
  shared_bytes: 49152,
  occupancy: 0.375,
  limited_by: 'registers',
  tensor_core: true,
  tensor_core_by: 'by name: gmma',
  queue_p50_ps: 5e6,
  launch_p50_ps: 9e6,
  call_p50_ps: 4e6,
  gap_p50_ps: 0,
  launch_count: 40,
  graph_count: 0,
  op: null,
  module: null,
  scope: null,
  source: null,
  ncu: "ncu --kernel-name 'x'",
  reasons: {},
  ...more,
});
const reply = (rows) => ({
  run: { id: 'r', name: 'step_1000' },
  by: 'kernel',
  of: 'device',
  total_ps: 10e9,
  total_self_ps: 10e9,
  launch_count: 80,
  occupancy_known_ps: 10e9,
  half_occupancy_ps: 8e9,
  tensor_core_known_ps: 10e9,
  tensor_core_ps: 8e9,
  graph_ps: 0,
  missing: null,
  row_count: rows.length,
  next: null,
  rows,
  notes: [],
  approx: [],
});

export const tests = {
  'a run on a CPU has none, and says why; its annotations have their device time': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=kernels`);
      await settle(page);
      assert.match(await words(page), /The profile holds no GPU/);
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
      await changeAnswers(page, '**/api/run?**', (run) => ({ ...run, views: { ...run.views, kernels: null } }));
      const asked = [];
      await page.route(
        '**/api/kernels?**',
        (route) =>
          asked.push(new URL(route.request().url()).searchParams) &&
          route.fulfill({
            json: reply([
              row('gemm'),
              row('add', {
                total_ps: 2e9,
                share: 0.2,
                variant_count: 3,
                grid: null,
                block: null,
                registers: null,
                occupancy: null,
                limited_by: null,
                tensor_core: null,
              }),
            ]),
          }),
      );
      await page.goto(`${url}?run=step_1000&view=kernels`);
      await settle(page);
      const text = await words(page);
      assert.match(text, /^2 kernels take 10\.0 ms; 80 % of it below half occupancy, 80 % on tensor cores\./);
      for (const part of ['128,1,1', '37.5 %', '3 shapes', 'yes']) assert.ok(text.includes(part), part);
      await page.locator('main a', { hasText: '3 shapes' }).click();
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('by'), 'variant');
      await page.goto(`${url}?run=step_1000&view=kernels&start_ps=1000&end_ps=2000000`);
      await settle(page);
      assert.deepEqual(
        ['start_ps', 'end_ps'].map((edge) => asked.at(-1).get(edge)),
        ['1000', '2000000'],
        'a range restricts kernels too',
      );
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
  'each activity by time, with what it moved; names of a family are told apart': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    const family = (op) =>
      `void Eigen::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorMap<float, 16>>, ${op}>(int)`;
    const activity = (at, name, more) => ({
      slice: `s-${at}`,
      track: 't.1',
      start_ps: at * 1e6,
      dur_ps: 5e6,
      what: 'kernel',
      name,
      host: 'h',
      device: 0,
      context: '1',
      stream: 'Stream #7',
      correlation: at,
      grid: '2,1,1',
      block: '64,1,1',
      registers: 32,
      static_shared_bytes: 0,
      dynamic_shared_bytes: 0,
      bytes: null,
      bytes_per_s: null,
      direction: null,
      memory: null,
      call: null,
      call_start_ps: null,
      call_ps: null,
      queue_ps: null,
      launch_to_end_ps: null,
      graph: null,
      op: null,
      launch: null,
      reasons: {},
      ...more,
    });
    try {
      await page.route('**/api/kernels?**', (route) =>
        route.fulfill({
          json: {
            ...reply([
              activity(1, family('sum_op')),
              activity(7, family('product_op')),
              activity(9, 'MemcpyH2D', {
                what: 'copy',
                grid: null,
                block: null,
                bytes: 2048,
                bytes_per_s: 4e8,
                direction: 'h2d',
              }),
            ]),
            by: 'activity',
            total_ps: 15e6,
          },
        }),
      );
      await changeAnswers(page, '**/api/run?**', (run) => ({ ...run, views: { ...run.views, kernels: null } }));
      await page.goto(`${url}?run=step_1000&view=kernels&by=activity`);
      await settle(page);
      const text = await words(page);
      assert.match(text, /^3 activities of devices, in order of time: 15\.0 µs\./);
      for (const part of ['…sum_op>', '…product_op>', 'MemcpyH2D', '2.00 KiB'])
        assert.ok(text.includes(part), `${part} in ${text}`);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
  'the overview says where ops ran where that is not on devices alone': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=overview`);
      await settle(page);
      assert.doesNotMatch(await words(page), /Where ops ran/i);
      await changeAnswers(page, '**/api/overview?**', (overview) => {
        const rows = [
          ['device', 73],
          ['host', 0],
          ['callback', 27],
        ].map(([place, share]) => ({
          place,
          self_ps: share * 1e9,
          share: share / 100,
          count: share,
          reason: null,
        }));
        const movable = [
          {
            name: 'pure_callback.1',
            place: 'callback',
            self_ps: 27e9,
            count: 6,
            why: 'it calls back into Python',
          },
        ];
        return {
          ...overview,
          places: { reason: null, total_ps: 100e9, rows, movable, movable_count: 1, movable_ps: 27e9 },
        };
      });
      await page.reload();
      await settle(page);
      assert.match(
        await words(page),
        new RegExp(
          'where ops ran\\s+on devices\\s+73 %\\s+in callbacks\\s+27 %\\s+' +
            'pure_callback\\.1 27\\.0 ms, could run on a device: it calls back into Python',
          'i',
        ),
      );
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
