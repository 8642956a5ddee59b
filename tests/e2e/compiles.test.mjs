/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles and transfers: what a sample holds, why another has none, and a made reply. */
import assert from 'node:assert/strict';
import { changeAnswers, json, openPage, settle } from './browser.mjs';

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');

const transfer = (key, more) => ({
  key,
  direction: key,
  host: 'trainer-0',
  count: 40,
  bytes: 41943040,
  unsized_count: 0,
  total_ps: 8e9,
  share: 0.8,
  bytes_per_s: 5.2e9,
  mean_ps: 2e8,
  min_ps: 2e8,
  max_ps: 2e8,
  overlapped_ps: 2e9,
  overlapped_share: 0.25,
  blocking_count: 40,
  blocking_ps: 8e9,
  pinned_count: 0,
  pageable_count: 40,
  steps: '0-4',
  slice: '00000000-1',
  start_ps: 0,
  reasons: {},
  ...more,
});

export const tests = {
  'autotuning is told by its name, apart from compilation and warm-up, before the first counted step': async ({
    browser,
    url,
  }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      const { rows } = await json(url, 'api/steps?run=step_250');
      const begin = rows[0].start_ps;
      const part = Math.round(begin / 10);
      const made = (total_ps, autotune_ps) => ({ total_ps, autotune_ps, reasons: {} });
      await changeAnswers(page, '**/api/steps?**', (steps) => ({
        ...steps,
        rows: steps.rows.map((row, at) => ({ ...row, warmup: at === 0 })),
      }));
      await page.route('**/api/compiles?**', (route) => {
        const asked = new URL(route.request().url()).searchParams;
        const found = asked.get('step') === 'counted' ? [made(5e9, 2e9)] : [made(5 * part, 2 * part), made(part, null)];
        if (asked.get('step') !== 'counted') assert.equal(asked.get('end_ps'), String(begin));
        return route.fulfill({ json: { by: 'compile', total_ps: 0, row_count: found.length, rows: found, notes: [] } });
      });
      await changeAnswers(page, '**/api/run?**', (run) => ({ ...run, views: { ...run.views, compiles: null } }));
      await page.goto(`${url}?run=step_250&view=overview`);
      const told = page.locator('.before-steps');
      await told.waitFor();
      const parts = await told
        .locator('.device-bars > div')
        .evaluateAll((all) =>
          all.map((one) => [
            one.querySelector('dt').textContent,
            parseFloat(one.querySelector('.bar-track > span').style.width),
          ]),
        );
      const whole = begin + rows[0].dur_ps;
      const want = [
        ['autotuning', 2 * part],
        ['compilation', 4 * part],
        ['1 warm-up step', rows[0].dur_ps],
        ['none recorded', begin - 6 * part],
      ];
      assert.deepEqual(
        parts.map(([name]) => name),
        want.map(([name]) => name),
      );
      for (const [at, [name, ps]] of want.entries())
        assert.ok(Math.abs(parts[at][1] - (100 * ps) / whole) < 0.01, `${name}: ${parts[at][1]} %`);
      const text = (await told.innerText()).replaceAll('\u202f', ' ');
      assert.match(text, /Counted steps hold 2\.00 ms of autotuning too\./);
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
  'a recompile in a step: its sentence, its phases, what changed, and the way to the timeline': async ({
    browser,
    url,
  }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1500&view=compiles`);
      await settle(page);
      const text = await words(page);
      assert.match(text, /^train_step was compiled once in \d+ ms, \d+ % of it in code generation\./);
      for (const part of ['1502', 'tokens: s32[16,65] → s32[24,65]', 'tracing']) assert.ok(text.includes(part), part);
      /* Over the run each is painted by phase: as high as its share. */
      const { rows } = await json(url, 'api/compiles?run=step_1500&by=compile&sort=-total_ps');
      const bar = page.locator('.strip-bar').first();
      const heights = await bar
        .locator('rect')
        .evaluateAll((all) => all.map((one) => [one.getAttribute('class'), Number(one.getAttribute('height')) / 27]));
      const phases = ['trace', 'lower', 'cache', 'passes', 'codegen', 'autotune', 'compiler', 'other'];
      const sum = phases.reduce((all, phase) => all + (rows[0][`${phase}_ps`] ?? 0), 0);
      const told = phases.filter((phase) => (rows[0][`${phase}_ps`] ?? 0) > 0);
      assert.deepEqual(
        heights.map(([name]) => name),
        told.map((phase) => `phase-${phase}`),
      );
      for (const [at, phase] of told.entries())
        assert.ok(Math.abs(heights[at][1] - rows[0][`${phase}_ps`] / sum) < 1e-6, phase);
      await page.locator('main a', { hasText: 'train_step' }).click();
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('by'), 'compile');
      await page.locator('main a', { hasText: 'train_step' }).click();
      await settle(page);
      assert.equal(new URL(page.url()).searchParams.get('view'), 'timeline');
      assert.ok(new URL(page.url()).searchParams.get('slice'));
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
  'a run that compiled nothing says so, its tab too': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=compiles`);
      await settle(page);
      assert.match(await words(page), /^Nothing was compiled during the capture: to see compilations, start/);
      assert.match((await page.locator('nav .absent').allInnerTexts()).join(' '), /Compiles –/);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
  'transfers by direction and size': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await changeAnswers(page, '**/api/run?**', (run) => ({ ...run, views: { ...run.views, transfers: null } }));
      await page.route('**/api/transfers?**', (route) => {
        const by = new URL(route.request().url()).searchParams.get('by');
        const rows =
          by === 'size'
            ? [transfer('16 KiB to 256 KiB', { direction: null }), transfer('unknown', { direction: null, count: 2 })]
            : [
                transfer('h2d'),
                transfer('d2h', { count: 2, bytes: null, bytes_per_s: null, total_ps: 2e9, share: 0.2 }),
              ];
        return route.fulfill({
          json: {
            run: { id: 'r', name: 'step_1000' },
            by,
            total_ps: 10e9,
            row_count: rows.length,
            next: null,
            rows,
            notes: [],
            approx: [],
          },
        });
      });
      await page.goto(`${url}?run=step_1000&view=transfers`);
      await settle(page);
      const text = await words(page);
      assert.match(
        text,
        new RegExp(
          '^40 transfers to devices take 8\\.00 ms \\(40\\.0 MiB at 5\\.20 GB/s\\); ' +
            '25 % of it while the device computes; 2 to the host take 2\\.00 ms\\.',
        ),
      );
      for (const part of ['host to device', 'device to host', '16 KiB to 256 KiB', 'size unknown', '–'])
        assert.ok(text.includes(part), part);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
