/* SPDX-License-Identifier: Apache-2.0 */
/* All pages of ten runs: where a number leads, the same number stands, and a figure that stands on two
 * pages is one figure.
 *
 *   api       each table of ops against its ops, their searches, their totals by any other property
 *   cards     names of Overview, Ops, Kernels and Roofline open the op's card; its slices are so many
 *   links     every link of every page leads to a page that has an answer
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { address, eventually, json, openPage, settle, until } from './browser.mjs';
import { startOwn } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const RUNS = 10;
const VIEWS = [
  'overview',
  'ops',
  'kernels',
  'flame',
  'steps',
  'why',
  'hosts',
  'threads',
  'memory',
  'roofline',
  'hlo',
  'files',
];

function makeProfile() {
  const places = [process.env.JVIEWD_TESTS_BIN, dirname(process.env.JVIEWD ?? ''), here('../../build/fast/tests')];
  const found = places.map((place) => join(place ?? '', 'make_profile')).find(existsSync);
  assert.ok(found, 'make_profile is built with the tests');
  return found;
}

/* One server for all tests of this file, over the samples and runs that are made for it. */
let server = null;
async function start() {
  if (process.env.JVIEWD_URL) {
    const url = process.env.JVIEWD_URL.replace(/\/?$/, '/');
    const { runs } = await json(url, 'api/runs?limit=1000');
    return { url, runs: runs.filter(({ state }) => state === 'ready') };
  }
  const folder = mkdtempSync(join(tmpdir(), 'jviewd-crawl-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  execFileSync('python3', [here('../golden/made_runs.py'), folder, makeProfile()]);
  const own = await startOwn([here('../samples'), folder]);
  process.on('exit', own.stop);
  let runs = [];
  const names = () => `${RUNS} runs are ready, not ${runs.map(({ name, state }) => `${name} ${state}`).join()}`;
  await eventually(names, async () => {
    ({ runs } = await json(own.url, 'api/runs?limit=100'));
    return runs.length === RUNS && runs.every(({ state }) => state === 'ready');
  });
  return { url: own.url, runs };
}
const crawled = () => (server ??= start());

const q = encodeURIComponent;
const within = (step) => (step === null ? '' : `&step=${step}`);
const opsOf = (url, run, step, by = 'op') => json(url, `api/top?run=${run}&by=${by}&limit=5000${within(step)}`);
const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);

/* As the page addresses it. */
const isOp = (top) => top.by === 'op';
const findOf = (top, row) =>
  isOp(top) ? `op:"${row.name}"${row.module ? ` module:"${row.module}"` : ''}` : `is:"${row.name}"`;

/* Of ops of one name and program: the self time and the count. */
function addTo(sums, key, { self_ps, count }) {
  const [self, all] = sums.get(key) ?? [0, 0];
  sums.set(key, [self + self_ps, all + count]);
}

/* The tree's ops are the table's, and each node is the sum of its children. */
async function treeOfOps(url, run, step, top, where) {
  const { root } = await json(url, `api/op_tree?run=${run}&limit=10000${within(step)}`);
  const [leaves, rows] = [new Map(), new Map()];
  const walk = (node, program) => {
    if (node.level === 'op') addTo(leaves, `${program} ${node.name}`, node);
    if (node.children.length === 0) return;
    for (const key of ['self_ps', 'count'])
      assert.equal(sum(node.children, key), node[key], `${where}, ${node.name}: ${key} of its children`);
    for (const child of node.children) walk(child, child.level === 'program' ? child.name : program);
  };
  walk(root, '');
  for (const row of top.rows) addTo(rows, `${row.module ?? '(no program)'} ${row.name}`, row);
  assert.equal(root.self_ps, top.total_self_ps, `${where}: the tree of ops`);
  assert.deepEqual([...leaves.entries()].sort(), [...rows.entries()].sort(), `${where}: ops of the tree`);
}

async function tablesOfOps(url, { id: run, name }) {
  for (const step of [null, 'counted']) {
    const top = await opsOf(url, run, step);
    for (const row of [...top.rows.slice(0, 8), ...top.rows.slice(-4)].filter((one) => one.name !== '')) {
      const where = `${name}, ${row.name}, ${step}`;
      const by = isOp(top) ? `&module=${q(row.module ?? '')}` : '&by=name';
      const op = await json(url, `api/op?run=${run}&name=${q(row.name)}${by}${within(step)}`);
      const hits = await json(url, `api/search?run=${run}&limit=1&q=${q(findOf(top, row))}${within(step)}`);
      assert.equal(op.event_count, row.event_count, `${where}: slices of its card`);
      assert.equal(hits.row_count, row.event_count, `${where}: slices of its search`);
      assert.equal(op.self_ps, row.self_ps, `${where}: self time of its card`);
      assert.equal(sum(op.steps, 'self_ps') + op.outside.self_ps, row.self_ps, `${where}: its steps`);
      if (step === null)
        // a step cuts totals, and means are of whole slices
        assert.ok(
          Math.abs(row.total_ps / row.count - row.mean_ps) <= 1,
          `${where}: the count is the basis of the mean`,
        );
    }
    assert.equal(sum(top.rows, 'self_ps'), top.total_self_ps, `${name}: rows add up`);
    if (!isOp(top)) continue;
    for (const by of ['module', 'scope', 'source', 'category', 'phase']) {
      const { total_self_ps: total } = await opsOf(url, run, step, by);
      assert.equal(total, top.total_self_ps, `${name} by ${by}, ${step}`);
    }
    const { root } = await json(url, `api/flame?run=${run}&by=scope&limit=20000${within(step)}`);
    assert.equal(root.total_ps, top.total_self_ps, `${name}: the flame graph, ${step}`);
    await treeOfOps(url, run, step, top, `${name}, ${step}`);
  }
}

async function figures(url, { id: run, name, step_median_ps: listed }) {
  const overview = await json(url, `api/overview?run=${run}`);
  const { step, findings } = overview;
  const steps = await json(url, `api/steps?run=${run}&step=counted&limit=10000`);
  const found = await json(url, `api/findings?run=${run}&limit=100`);
  assert.deepEqual(
    findings.map(({ text }) => text),
    found.rows.slice(0, findings.length).map(({ text }) => text),
    `${name}: findings of the overview`,
  );
  assert.equal(overview.finding_count, found.row_count, `${name}: how many findings`);
  assert.equal(step.median_ps, listed, `${name}: step time of the list`);
  const other = (await json(url, 'api/runs?limit=100')).runs.find(
    (one) => one.id !== run && one.step_median_ps !== null,
  );
  if (listed !== null) {
    const { a } = await json(url, `api/diff?a=${run}&b=${other.id}&limit=1`);
    assert.equal(a.median_ps, listed, `${name}: step time in a comparison`);
  }
  assert.equal(steps.rows.length, step.counted, `${name}: counted steps`);
  assert.equal(sum(steps.rows, 'dur_ps'), step.total_ps ?? 0, `${name}: their time`);
  const devices = await json(url, `api/hosts?run=${run}&by=device&limit=100`);
  const own = new Set(devices.rows.map(({ host, device }) => `${host} ${device}`));
  if (step.counted > 0)
    for (const { host, device } of overview.devices)
      assert.ok(own.has(`${host} ${device}`), `${name}: device ${device} on the page of hosts`);
  const top = await opsOf(url, run, 'counted');
  assert.equal(top.counted, step.counted > 0 ? step.numbers : null, `${name}: which steps count`);
  for (const finding of found.rows) {
    const times = finding.evidence.filter(({ unit, name: what }) => unit === 'ps' && /^idle before/.test(what));
    const [whole] = /idle for ([\d.]+ (?:ns|µs|ms|s))\b/.exec(finding.text)?.slice(1) ?? [];
    if (whole) assert.ok(sum(times, 'value') <= picoseconds(whole) * 1.01, `${name}: ${finding.text}`);
  }
}

const UNITS = { ps: 1, ns: 1e3, µs: 1e6, ms: 1e9, s: 1e12, min: 6e13 };
const picoseconds = (text) => {
  const [, number, unit] = /([\d.]+)[\s\u202f](ps|ns|µs|ms|s|min)/.exec(text.replaceAll('\u202f', ' '));
  return Number(number) * UNITS[unit];
};
const near = (a, b) => Math.abs(a - b) <= 0.006 * Math.max(a, b) + 1000;

/* The page is another one in place, as a followed link makes it. */
async function to(page, query) {
  await page.evaluate((href) => {
    history.pushState(null, '', href);
    dispatchEvent(new PopStateEvent('popstate'));
  }, query);
  await settle(page);
}

async function search(page, count, what) {
  await until(page, `${what}: the timeline`, (at) => at.view === 'timeline');
  await page
    .getByRole('tab', { name: `Search ${count.toLocaleString('en').replaceAll(',', '\u202f')}`, exact: true })
    .waitFor()
    .catch(async () => {
      const tabs = await page.locator('.lower-tabs').innerText();
      assert.fail(`${what}: ${count} slices, not ${tabs}`);
    });
}

/* From a name to its card, from there to its slices, and back. */
async function card(page, link, row, what) {
  const back = page.url();
  await link.click();
  const aside = page.locator('.op-card');
  await aside.locator('.dots a', { hasText: /slices?$/ }).waitFor();
  const said = picoseconds(await aside.locator('strong').first().innerText());
  assert.ok(near(said, row.self_ps), `${what}: ${said} on its card, ${row.self_ps} in its table`);
  await aside.locator('.dots a', { hasText: /slices?$/ }).click();
  await search(page, row.event_count, what);
  await to(page, back);
}

const rowNamed = (page, name) =>
  page.locator('main .table-row', { has: page.locator(`[data-tip=${JSON.stringify(name)}]`) });

async function cards(page, url, { id: run, name, views }) {
  const top = await opsOf(url, run, 'counted');
  const shown = top.rows.slice(0, 3).filter(({ name: one }) => !one.includes('"'));
  await to(page, `?run=${run}&view=overview`);
  for (const row of shown.slice(0, 2)) {
    const link = rowNamed(page, row.name).first().locator('a').first();
    if ((await link.count()) > 0) await card(page, link, row, `${name}, overview, ${row.name}`);
  }
  await to(page, `?run=${run}&view=ops`);
  for (const row of shown) {
    const line = rowNamed(page, row.name).first();
    await card(page, line.locator('a').first(), row, `${name}, ops, ${row.name}`);
  }
  for (const row of shown.slice(0, 1)) {
    await rowNamed(page, row.name).first().locator('.number a').first().click();
    await search(page, row.event_count, `${name}, the count of ${row.name}`);
  }
  if (views.kernels !== null) return;
  const kernels = await json(url, `api/kernels?run=${run}&by=kernel&limit=2&step=counted`);
  await to(page, `?run=${run}&view=kernels`);
  for (const row of kernels.rows)
    await card(
      page,
      rowNamed(page, row.name).first().locator('a').first(),
      { ...row, event_count: row.count },
      `${name}, kernels, ${row.name}`,
    );
}

/* Links that differ in more than which row they are of. */
const kindOf = (href) => {
  const params = new URLSearchParams(href);
  return [...params.keys()].sort().join() + params.get('view') + params.get('by');
};

async function links(page, { id: run, name, views }) {
  const seen = new Set();
  const left = VIEWS.filter((view) => (views[view] ?? null) === null).map((view) => `?run=${run}&view=${view}`);
  const budget = 14;
  for (let visited = 0; left.length > 0 && visited < budget; visited++) {
    const href = left.shift();
    await to(page, href);
    const at = `${name}: ${href}`;
    const errors = await page.locator('main .state.error, main .error[role=alert], .bar.warn').allInnerTexts();
    assert.deepEqual(errors, [], at);
    assert.ok((await page.locator('main').innerText()).trim().length > 20, `${at} is blank`);
    if (address(page).find !== undefined && address(page).view === 'timeline')
      assert.doesNotMatch(await page.locator('main').innerText(), /No slice matches/, at);
    for (const one of await page
      .locator('main a[href^="?"], .op-card a[href^="?"]')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')))) {
      const kind = kindOf(one);
      if (seen.has(kind) || !new URLSearchParams(one).has('run')) continue;
      seen.add(kind);
      left.push(one);
    }
  }
}

/* A part of the runs, so that browsers share them. */
const some = (part, of, body) => async (lane) => {
  const { url, runs } = await crawled();
  for (const run of runs.filter((_, at) => at % of === part)) await body(lane, url, run);
};

const inPage = (body) => async (lane, url, run) => {
  const { page, context, complaints, foreign } = await openPage(lane.browser, url);
  try {
    await page.goto(`${url}?run=${run.id}`);
    await settle(page);
    await body(page, url, { ...run, views: (await json(url, `api/run?run=${run.id}`)).views });
    assert.deepEqual(complaints, [], `${run.name}: the console`);
    assert.deepEqual(foreign, [], `${run.name}: requests that leave the origin`);
  } finally {
    await context.close();
  }
};

export const tests = {
  'tables, cards and searches of ops hold the same slices': some(0, 1, (_, url, run) => tablesOfOps(url, run)),
  'a figure that stands on two pages is one': some(0, 1, (_, url, run) => figures(url, run)),
  'names lead to cards and their slices (1)': some(0, 2, inPage(cards)),
  'names lead to cards and their slices (2)': some(1, 2, inPage(cards)),
  'every link leads to an answer (1)': some(
    0,
    2,
    inPage((page, _, run) => links(page, run)),
  ),
  'every link leads to an answer (2)': some(
    1,
    2,
    inPage((page, _, run) => links(page, run)),
  ),
};
