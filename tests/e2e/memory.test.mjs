/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time, as compiled, as saved: what counts is drawn, named and told under the pointer. */
import assert from 'node:assert/strict';
import { changeAnswers, openPage, settle, until } from './browser.mjs';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const sample = (at_ps, allocated, reserved) => ({
  at_ps,
  allocated_bytes: allocated * GIB,
  reserved_bytes: reserved * GIB,
});
const allocator = (name, samples, peak, at) => ({
  name,
  host: 'h',
  samples,
  peak_bytes: peak * GIB,
  peak_at_ps: at,
  capacity_bytes: 8 * GIB,
});
const REPLY = {
  allocators: [
    allocator('device 10', [sample(0, 0, 0), sample(1e9, 1, 0)], 1, 1e9),
    allocator('device 2', [sample(0, 0, 0), sample(1e9, 1, 2), sample(2e9, 1, 2)], 3, 1e9),
  ],
};
const owner = (name, bytes, row_kind) => ({
  name,
  scope: row_kind === 'owner' ? 'layer_1/mlp' : null,
  category: null,
  shape: null,
  dtype: null,
  bytes,
  share: bytes / (3 * GIB),
  count: 1,
  since_ps: 0,
  slice: null,
  row_kind,
  reasons: {},
});
const ownersAt = (at) => ({
  at_ps: at,
  total_bytes: 3 * GIB,
  rows: [owner('dot.3', 1 * GIB, 'owner'), owner('(reserved)', 2 * GIB, 'reserved')],
  row_count: 2,
  reasons: {},
  notes: [],
});
const HEAP = {
  module: 'jit_f(3)',
  basis: 'heap-trace',
  peak_bytes: 3 * MIB,
  fixed_bytes: MIB,
  total_allocation_bytes: 3 * MIB,
  parameter_bytes: MIB,
  output_bytes: 0,
  constant_bytes: 0,
  thread_local_bytes: 0,
  temporary_bytes: 2 * MIB,
  fragmentation_bytes: 0,
  padding_bytes: 0,
  rematerialise_bytes: 0,
  donation_bytes: 0,
  peak_position: 1,
  peak_instruction: 'dot.3',
  position: 1,
  position_count: 3,
  alive_bytes: 3 * MIB,
  points: [0, 1, 2].map((position) => ({
    position,
    bytes: position === 1 ? 3 * MIB : MIB,
    unpadded_bytes: MIB,
    instruction: ['x', 'dot.3', 'y'][position],
  })),
  rows: [
    {
      name: 'dot.3',
      part: null,
      opcode: 'dot',
      shape: 'f32[8]',
      bytes: 2 * MIB,
      padding_bytes: 0,
      share: 0.67,
      class: 'temporary',
      first: 1,
      last: 1,
      from_point: 1,
      to_point: 1,
      scope: 'mlp',
      source: null,
      rematerialise: null,
      reuse: null,
      reasons: {},
    },
  ],
  row_count: 1,
  reasons: {},
  notes: [],
};

/* A run with these views and replies, whatever the sample holds. */
async function opened(browser, url, views, reply, more = () => ({})) {
  const opening = await openPage(browser, url);
  const { page } = opening;
  const asked = [];
  await changeAnswers(page, '**/api/run?**', (run) => ({ ...run, ...more(run), views: { ...run.views, ...views } }));
  await page.route('**/api/memory?**', (route) => {
    const question = new URL(route.request().url()).searchParams;
    asked.push(question);
    return route.fulfill({ json: reply(question) });
  });
  return { ...opening, asked };
}

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');
const timeline = (question) =>
  question.get('view') === 'peak'
    ? ownersAt(Number(question.get('at_ps') ?? 1e9))
    : question.get('view') === 'heap'
      ? HEAP
      : REPLY;

const snapshot = (name, total) => ({
  name,
  taken_at: null,
  sample_count: 3,
  types: [{ name: 'space', unit: 'bytes', total }],
});
const SNAPSHOTS = {
  order: 'name',
  snapshots: [snapshot('a.prof', MIB), snapshot('b.prof', 2 * MIB)],
  snapshot: 'b.prof',
  base: null,
  type: 'space',
  unit: 'bytes',
  total: 2 * MIB,
  base_total: null,
  rows: [
    {
      name: 'keep',
      source: 'train.py:7',
      device: 'cpu:0',
      kind: 'buffer',
      value: 2 * MIB,
      share: 1,
      count: 2,
      reasons: {},
    },
  ],
  row_count: 1,
  reasons: {},
  notes: [],
};
const finding = (rule, text) => ({
  rank: 1,
  rule,
  theme: 'memory',
  severity: 'warning',
  confidence: 'high',
  text,
  remedy: 'Delete `them`.',
  win_ps: null,
  win_share: null,
  same_time_as: null,
  more_count: 0,
  reasons: {},
  evidence: [],
});

export const tests = {
  'what grows from snapshot to snapshot is told above them': async ({ browser, url }) => {
    const { page, context } = await opened(
      browser,
      url,
      { memory: null, hlo: { reason: 'none' } },
      () => SNAPSHOTS,
      (run) => ({ files: [...run.files, { ...run.files[0], format: 'pprof' }] }),
    );
    try {
      await page.route('**/api/findings?**', (route) =>
        route.fulfill({
          json: {
            rows: [finding('memory-leak', 'Memory of keep grew.'), finding('other', 'Else.')],
            row_count: 2,
            next: null,
            notes: [],
          },
        }),
      );
      await page.goto(`${url}?run=step_1000&view=memory&part=snapshots`);
      await settle(page);
      assert.match(await words(page), /Memory of keep grew\. Delete them\./);
      assert.doesNotMatch(await words(page), /Else/);
    } finally {
      await context.close();
    }
  },
  'what a line holds on several devices is one row that opens, with its sum': async ({ browser, url }) => {
    const [row] = SNAPSHOTS.rows;
    const on = (device, value, more) => ({ ...row, device, value, share: value / (6 * MIB), count: 1, ...more });
    const rows = [
      on('tpu:0', 2 * MIB),
      on('tpu:1', 2 * MIB),
      on('tpu:0', 1.5 * MIB, { name: 'once' }),
      on('tpu:1', 0.5 * MIB, { source: 'train.py:9' }),
    ];
    const { page, context } = await opened(
      browser,
      url,
      { memory: null, hlo: { reason: 'none' } },
      () => ({ ...SNAPSHOTS, rows, row_count: rows.length, total: 6 * MIB }),
      (run) => ({ files: [...run.files, { ...run.files[0], format: 'pprof' }] }),
    );
    try {
      await page.goto(`${url}?run=step_1000&view=memory&part=snapshots`);
      await settle(page);
      const lines = page.locator('.table-body .table-row');
      const told = async () => (await lines.allInnerTexts()).map((text) => text.replaceAll(/[\s\u202f]+/g, ' ').trim());
      assert.deepEqual(
        (await told()).map((text) => /^\S+/.exec(text)[0]),
        ['keep', 'once', 'keep'],
      );
      assert.match((await told())[0], /^keep train\.py:7, buffer 2 4\.00 2 66\.7 %/);
      await lines.first().focus();
      await page.keyboard.press('ArrowRight');
      await lines.nth(4).waitFor();
      assert.deepEqual(
        (await told()).slice(1, 3).map((text) => /tpu:\d/.exec(text)[0]),
        ['tpu:0', 'tpu:1'],
      );
      assert.equal(await lines.nth(3).getAttribute('aria-level'), '1', 'what has no like is no part of it');
      await page.getByRole('columnheader', { name: 'count' }).getByRole('button').click();
      await until(page, 'each by itself', async () => (await lines.count()) === rows.length);
    } finally {
      await context.close();
    }
  },
  'reserved memory stands upon what is allocated; devices in their order': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await opened(
      browser,
      url,
      { memory: null, hlo: { reason: 'none' } },
      timeline,
    );
    try {
      await page.goto(`${url}?run=step_1000&view=memory`);
      await settle(page);
      const text = await words(page);
      assert.match(text, /^Peak 3\.00 GiB of 8\.00 GiB at 1\.00 ms on device 2\./);
      assert.match(text, /reserved above it/);
      assert.deepEqual(
        (await page.locator('.memory-charts h2').allInnerTexts()).map((one) => one.split(',')[0]),
        ['device 2', 'device 10'],
      );
      const box = await page.locator('main .canvas-box').first().boundingBox();
      await page.mouse.move(box.x + box.width - 13, box.y + 40);
      await page.waitForFunction(() => /allocated/.test(document.querySelector('.tooltip')?.textContent ?? ''));
      assert.equal(
        (await page.locator('.tooltip').innerText()).replaceAll('\u202f', ' '),
        '2.00 ms: 1.00 GiB allocated, 2.00 GiB reserved',
      );
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },

  'who is alive at the peak; a click asks for another moment': async ({ browser, url }) => {
    const { page, context, asked } = await opened(browser, url, { memory: null, hlo: { reason: 'none' } }, timeline);
    try {
      await page.goto(`${url}?run=step_1000&view=memory`);
      await settle(page);
      assert.match(await words(page), /In use at the peak: 3\.00 GiB[\s\S]*dot\.3[\s\S]*\(reserved\)/);
      const box = await page.locator('main .canvas-box').first().boundingBox();
      await page.mouse.move(box.x + box.width - 13, box.y + 40);
      await page.mouse.click(box.x + box.width - 13, box.y + 40);
      await page.waitForURL(/at=2000000000/);
      await settle(page);
      assert.match(await words(page), /In use at 2\.00 ms/);
      assert.ok(
        asked.some((question) => question.get('at_ps') === '2000000000' && question.get('allocator') === 'device 2'),
      );
      await page.getByRole('link', { name: 'device 10' }).press('Enter');
      await page.waitForURL(/allocator=device(\+|%20)10/);
      await settle(page);
      assert.deepEqual(await page.locator('.memory-charts a[aria-current]').allInnerTexts(), ['device 10']);
      assert.ok(
        asked.some((question) => question.get('at_ps') === '2000000000' && question.get('allocator') === 'device 10'),
      );
      for (const [address, chosen, moment] of [
        ['h device 10', 'device 10', /In use at 2\.00 ms/],
        ['gone', 'device 2', /In use at the peak/],
      ]) {
        await page.goto(`${url}?run=step_1000&view=memory&at=2000000000&allocator=${encodeURIComponent(address)}`);
        await settle(page);
        assert.deepEqual(await page.locator('.memory-charts a[aria-current]').allInnerTexts(), [chosen], address);
        assert.match(await words(page), moment, address);
      }
    } finally {
      await context.close();
    }
  },

  'the heap of a module: its peak, its buffers, a place that is chosen': async ({ browser, url }) => {
    const { page, context, asked, complaints } = await opened(browser, url, { memory: null, hlo: null }, timeline);
    try {
      await page.goto(`${url}?run=step_1000&view=memory`);
      await settle(page);
      await page.getByRole('link', { name: 'static heap of a module' }).click();
      await page.waitForURL(/part=heap/);
      await settle(page);
      assert.match(await words(page), /^jit_f\(3\) needs 3\.00 MiB at most, at dot\.3: 2\.00 MiB temporary/);
      assert.match(
        await page.getByRole('link', { name: 'dot.3' }).getAttribute('href'),
        /view=hlo.*name=dot\.3|name=dot\.3.*view=hlo|module=jit_f/,
      );
      await page
        .locator('.toolbar label', { hasText: /^group/ })
        .locator('select')
        .selectOption('class');
      await page.locator('.table-row.group', { hasText: 'temporary' }).waitFor();
      const box = await page.locator('main .canvas-box').first().boundingBox();
      await page.mouse.move(box.x + 84, box.y + 40);
      await page.mouse.click(box.x + 84, box.y + 40);
      await page.waitForURL(/position=0/);
      await settle(page);
      assert.ok(asked.some((question) => question.get('view') === 'heap' && question.get('position') === '0'));
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },
};
