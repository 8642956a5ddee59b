/* SPDX-License-Identifier: Apache-2.0 */
/* A figure that stands on two pages is the same on both, and parts of a whole sum to it. */
import assert from 'node:assert/strict';
import { json, openPage, settle } from './browser.mjs';

const RUNS = ['step_250', 'step_500', 'step_1000', 'step_1500'];

async function on(browser, url, query, look) {
  const { context, page } = await openPage(browser, url);
  await page.goto(`${url}${query}`);
  await settle(page);
  try {
    return await look(page);
  } finally {
    await context.close();
  }
}

const percent = (text) => Number(/([\d.]+)\s*%/.exec(text.replace('<', ''))[1]);

/* name -> share in percent, in the order of the page */
async function whereRows(page) {
  const rows = page.locator('[aria-label="Where the time goes"] .table-row');
  await rows.first().waitFor();
  const texts = await rows.evaluateAll((all) =>
    all.map((row) => {
      const cells = [...row.querySelectorAll('[role=cell], [role=rowheader], [role=gridcell]')];
      return [cells[0].textContent.trim(), cells.at(-1).textContent];
    }),
  );
  return texts.map(([name, text]) => ({ name, share: percent(text) }));
}

async function timeOfTheStep({ browser, url }) {
  for (const run of RUNS) {
    const rows = await on(browser, url, `?run=${run}&view=overview`, whereRows);
    const { idle_causes: causes } = await json(url, `api/overview?run=${run}`);
    const idle = rows.filter((row) =>
      causes.some(({ cause }) => row.name === cause.replace('nothing recorded', 'idle')),
    );
    const ops = rows.filter((row) => !idle.includes(row));
    const { breakdown } = await json(url, `api/overview?run=${run}`);
    const ofOps = ['compute', 'copy', 'communication', 'other']
      .map((kind) => breakdown.find((part) => part.kind === kind)?.share ?? 0)
      .reduce((sum, share) => sum + share * 100, 0);
    const sum = (list) => list.reduce((total, row) => total + row.share, 0);
    /* Threads of one device run side by side: their ops may add up to more than its time. */
    assert.ok(sum(ops) >= ofOps - 1, `${run}: ops make up ${sum(ops)} %, ${ofOps} % of the step is theirs`);
    assert.ok(Math.abs(sum(idle) - (100 - ofOps)) < 1, `${run}: no op runs in ${100 - ofOps} %, not ${sum(idle)} %`);
    assert.deepEqual(
      rows.slice(0, -1).map(({ share }) => share),
      rows
        .slice(0, -1)
        .map(({ share }) => share)
        .sort((a, b) => b - a),
    );
  }
}

async function compileFirst({ browser, url }) {
  const [first] = await on(browser, url, '?run=step_1500&view=overview', whereRows);
  assert.equal(first.name, 'compile');
  assert.ok(first.share > 80 && first.share < 84);
}

async function busyDevices({ browser, url }) {
  for (const run of RUNS) {
    const overview = await on(browser, url, `?run=${run}&view=overview`, async (page) => {
      const bars = page.locator('.device-bars .number');
      await bars.first().waitFor();
      return percent(await bars.first().textContent());
    });
    const { rows } = await json(url, `api/hosts?run=${run}&by=device`);
    assert.equal(overview, Number((rows[0].busy_share * 100).toPrecision(2)), run);
  }
}

/* Every table that has a CSV of the server's. */
const COPIED = {
  'view=ops': 'api/top?by=op&step=counted',
  'view=ops&by=scope': 'api/top?by=scope&step=counted',
  'view=steps': 'api/steps?',
  'view=threads': 'api/threads?',
  'view=hosts&by=device': 'api/hosts?by=device',
};

const linesOf = (text) => text.trim().split(/\r?\n/);

async function copyOf(page) {
  const row = page.locator('main .table-row').first();
  await row.waitFor();
  await row.focus();
  await page.keyboard.press('Control+c');
  await page.locator('.said, [role=status]', { hasText: 'copied' }).first().waitFor();
  const [heads, ...rows] = linesOf(await page.evaluate(() => navigator.clipboard.readText()));
  return { heads: heads.split('\t'), rows: rows.map((line) => line.split('\t')) };
}

/* Few of the samples' cells hold a comma, and then in quotes. */
const cellsOf = (line) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain);

async function copies({ browser, url }) {
  for (const [query, path] of Object.entries(COPIED)) {
    const copied = await on(browser, url, `?run=step_1500&${query}`, async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      return copyOf(page);
    });
    const answer = await fetch(`${url}${path}&run=step_1500&format=csv&limit=5000`);
    const [heads, ...lines] = linesOf(await answer.text());
    const keys = heads.split(',');
    const shared = copied.heads.filter((key) => keys.includes(key));
    assert.ok(shared.length >= 4, `${query}: ${copied.heads} beside ${keys}`);
    const one = (text) => (text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text); // 1e-5, 0.00001
    const pick = (names, cells) => shared.map((key) => one(cells[names.indexOf(key)] ?? '')).join('\t');
    const told = new Set(lines.map((line) => pick(keys, cellsOf(line))));
    for (const cells of copied.rows) {
      const row = pick(copied.heads, cells);
      assert.ok(told.has(row), `${query}: no row of the CSV is "${row}"; the first is "${[...told][0]}"`);
    }
  }
}

/* A number on the page leads to so many slices, and to no others. */
async function slicesOfOps({ browser, url }) {
  for (const run of RUNS) {
    const { rows } = await json(url, `api/top?run=${run}&by=op&limit=5000`);
    for (const { name, module, event_count: wanted } of rows) {
      const q = `op:${name}${module ? ` module:${module}` : ''}`;
      const found = await json(url, `api/search?run=${run}&limit=1&q=${encodeURIComponent(q)}`);
      assert.equal(found.row_count, wanted, `${run}: ${q}`);
    }
    /* And so says the page, for the first and for one whose name begins others' names. */
    const { rows: counted } = await json(url, `api/top?run=${run}&by=op&limit=5000&step=counted`);
    for (const row of [
      counted[0],
      counted.find(({ name }) => rows.some((other) => other.name.startsWith(`${name}.`))),
    ].filter(Boolean))
      await on(browser, url, `?run=${run}&view=ops&q=${encodeURIComponent(`"${row.name}"`)}`, async (page) => {
        await page.locator('main .table-row', { hasText: row.name }).first().locator('.number a').first().click();
        await page.waitForURL(/view=timeline/);
        await settle(page);
        const words = await page.locator('main').innerText();
        assert.match(
          words.replaceAll('\u202f', ''),
          new RegExp(`Search ${row.event_count}\\b|\\b${row.event_count} (hits|slices)`),
        );
      });
  }
}

export const tests = {
  'where the time goes: ops and what holds them up fill the step': timeOfTheStep,
  'where the time goes: a step that compiles says so first': compileFirst,
  'devices are as busy on the overview as on the page of hosts': busyDevices,
  "an op's link finds its slices, all of them and no others": slicesOfOps,
  "what is copied is the server's CSV": copies,
};
