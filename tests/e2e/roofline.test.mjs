/* SPDX-License-Identifier: Apache-2.0 */
/* Roofline: the sentence, the picture and the table say what the server says. */
import assert from 'node:assert/strict';
import { changeAnswers, json, openPage, settle, until } from './browser.mjs';

const row = (name, more) => ({
  key: name,
  name,
  kind: 'compute',
  category: 'dot',
  module: 'jit_f',
  scope: `jit(f)/${name}`,
  source: null,
  type: 'bf16',
  count: 3,
  total_ps: 1e9,
  self_ps: 1e9,
  share: 0.5,
  flops: 1e12,
  bytes: 1e9,
  intensity: 1000,
  flops_per_s: 700e12,
  bytes_per_s: 7e11,
  roof_flops_per_s: 989e12,
  peak_share: 0.7078,
  bound_by: 'compute',
  counted: 'counted from the HLO',
  reasons: {},
  ...more,
});
const reply = (rows) => ({
  run: { id: 'r', name: 'step_1000' },
  by: 'op',
  devices: [
    {
      host: 'h',
      name: 'NVIDIA H100 SXM',
      device_count: 8,
      links: [],
      roofs: [
        { kind: 'compute', name: 'bf16', per_s: 989e12, source: 'NVIDIA H100 data sheet' },
        { kind: 'memory', name: 'memory', per_s: 3.35e12, source: 'the profile' },
      ],
      reason: null,
      doubt: 'the profile says 1 GB/s',
    },
  ],
  program: {
    self_ps: 2e9,
    op_count: 2,
    unknown_count: 0,
    flops: 2e12,
    bytes: 2e9,
    intensity: 1000,
    flops_per_s: 5e14,
    bytes_per_s: 5e11,
    peak_share: 0.5,
  },
  bounds: [{ bound_by: 'memory', self_ps: 1e9 }],
  missing: null,
  total_self_ps: 2e9,
  row_count: rows.length,
  next: null,
  rows,
  notes: [],
  approx: [],
});

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');

export const tests = {
  'the overview has MFU as a number, or says in a line why it is not known': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      const { efficiency } = await json(url, 'api/overview?run=step_1000');
      await page.goto(`${url}?run=step_1000`);
      const line = page.locator('.mfu');
      await line.waitFor();
      const told = async () => (await line.innerText()).replaceAll('\u202f', ' ');
      assert.equal(await told(), `MFU is not known: ${efficiency.reasons.mfu}. Roofline`);
      await changeAnswers(page, '**/api/overview?**', (overview) => ({
        ...overview,
        efficiency: { ...overview.efficiency, mfu: 0.412, is_least: true, peak: 'bf16', reasons: {} },
      }));
      await page.reload();
      await line.waitFor();
      assert.equal(await told(), 'MFU: at least 41 % of the bf16 peak. Roofline');
      await line.getByRole('link').click();
      await until(page, 'the roofline', (now) => now.view === 'roofline');
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
  'roofline of a sample: ops with their rates, and why there is no roof': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=roofline`);
      await settle(page);
      assert.match(await words(page), /does [\d.]+ .?FLOP\/s; the device’s peak is unknown\./);
      assert.match(await words(page), /No roof is drawn: the profile does not say which device this is\./);
      assert.ok((await page.locator('.roofline-chart circle').count()) > 10);
      assert.equal(await page.locator('[aria-label="Ops and their rates"]').count(), 1);
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
  'roofline of a known device: roofs wear value and source, a circle leads to its row': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.route('**/api/roofline?**', (route) =>
        route.fulfill({
          json: reply([
            row('dot.63', {}),
            row('add.1', {
              intensity: 0.25,
              flops_per_s: 7e11,
              bytes_per_s: 2.8e12,
              peak_share: 0.836,
              bound_by: 'memory',
            }),
          ]),
        }),
      );
      await page.goto(`${url}?run=step_1000&view=roofline`);
      await settle(page);
      assert.match(
        await words(page),
        new RegExp(
          '^dot\\.63 reaches 71 % of 989 TFLOP/s \\(bf16, data sheet\\); ' +
            'ops that take 50 % of the time are memory bound\\.',
        ),
      );
      assert.match(await words(page), /The profile says 1 GB\/s\./);
      assert.equal(await page.locator('.roofline-chart circle').count(), 2);
      assert.equal(await page.locator('.roofline-chart .roof').count(), 2);
      await page.locator('.roofline-chart circle').last().click();
      assert.equal(new URL(page.url()).searchParams.get('key'), 'add.1');
      const chart = page.getByRole('slider', { name: /^2 ops by arithmetic rate/ });
      await chart.focus();
      for (const [key, op] of [
        ['Home', 'dot.63'],
        ['ArrowRight', 'add.1'],
        ['ArrowLeft', 'dot.63'],
      ]) {
        await page.keyboard.press(key);
        await until(page, `${key} leads to ${op}`, (now) => now.key === op);
        await until(page, 'it is told', async () => (await chart.getAttribute('aria-valuetext')).startsWith(op));
        assert.match(await page.locator('.tooltip').innerText(), new RegExp(`^${op.replace('.', '\\.')} `));
        assert.equal(await page.locator('.roofline-chart circle.focused').count(), 1);
      }
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
