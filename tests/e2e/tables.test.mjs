/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: sorting, filtering, drill-down, keyboard; the flame graph's zoom; steps lead to the timeline. */
import assert from 'node:assert/strict';
import { address, changeAnswers, json, openPage, settle, until } from './browser.mjs';

function at(query, body) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url);
    try {
      await opened.page.goto(url + query);
      await settle(opened.page);
      await body({ ...opened, url });
      assert.deepEqual(opened.complaints, [], 'the console');
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
    }
  };
}

const opOf = (name) => `op:${name} module:jit_train_step`;
/* As the page asks: of the steps that count. */
const TOP = 'api/top?run=step_1000&step=counted';
const firstName = (page) => page.locator('.table-row [role=gridcell]').first().innerText();

export const tests = {
  'ops come as the API orders them; a head sorts': at('?run=step_1000&view=ops', async ({ page, url }) => {
    const top = await json(url, `${TOP}&limit=1`);
    assert.equal(await firstName(page), top.rows[0].name);
    await page.getByRole('button', { name: 'count', exact: true }).click();
    const byCount = await json(url, `${TOP}&sort=-count&limit=1`);
    await until(page, 'sorted by count', async () => (await firstName(page)) === byCount.rows[0].name);
    assert.equal(address(page).sort, '-count');
    assert.equal(await page.getByRole('columnheader', { name: /count/ }).getAttribute('aria-sort'), 'descending');
  }),

  'the filter narrows, names its error, and says what is left': at('?run=step_1000&view=ops', async ({ page, url }) => {
    const all = await json(url, `${TOP}&limit=1000`);
    await page.keyboard.press('/');
    await page.keyboard.type('fusion self>1ms');
    const expected = all.rows.filter((row) => row.name.toLowerCase().includes('fusion') && row.self_ps > 1e9).length;
    await until(page, `${expected} rows`, async () =>
      (await page.locator('.toolbar').innerText()).includes(`${expected} of ${all.row_count}`),
    );
    assert.match(
      await page.locator('.table-row.rest:not(.sum)').innerText(),
      new RegExp(`${all.row_count - expected} ops`),
    );
    await page.keyboard.type(' self>3x');
    await until(page, 'the error', async () => (await page.locator('.fault').count()) === 1);
    assert.equal(
      await page.locator('.filter .marks span:last-child').innerText(),
      'self>3x',
      'the wrong part alone is underlined',
    );
    assert.ok((await page.locator('.table-row').count()) > 0, 'the last good rows stay');
    await page.locator('.filter input').fill('nothing-is-called-so');
    await page.getByRole('button', { name: 'Remove it' }).click();
    await until(page, 'all rows', async () => (await page.locator('.table-row').count()) > 10);
  }),

  'shift adds a second order; the heads tell which is which': at('?run=step_1000&view=ops', async ({ page, url }) => {
    await page.getByRole('button', { name: 'count', exact: true }).click();
    await page.getByRole('button', { name: /^op/ }).click({ modifiers: ['Shift'] });
    await until(page, 'two orders', () => address(page).sort === '-count,name');
    const top = await json(url, `${TOP}&sort=-count,name&limit=3`);
    await until(page, 'the order of the API', async () => (await firstName(page)) === top.rows[0].name);
    assert.deepEqual((await page.locator('.table-head').innerText()).match(/[↑↓]\d/g), ['↑2', '↓1']);
  }),

  'columns are chosen, kept in the address, and given back': at('?run=step_1000&view=ops', async ({ page }) => {
    const heads = async () => (await page.locator('.table-head [role=columnheader]').allInnerTexts()).join();
    assert.ok(!(await heads()).includes('max'));
    await page.getByRole('button', { name: 'columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'max' }).click();
    await until(page, 'the column', async () => (await heads()).includes('max'));
    assert.ok(address(page).columns.split(',').includes('max_ps'));
    await page.getByRole('menuitem', { name: 'automatic' }).click();
    await until(page, 'as before', async () => !(await heads()).includes('max') && address(page).columns === undefined);
  }),

  'groups have subtotals, and fold by key': at('?run=step_1000&view=ops&group=category', async ({ page, url }) => {
    const all = await json(url, `${TOP}&limit=1000`);
    const counts = new Map();
    for (const row of all.rows)
      counts.set(row.category ?? 'no category', (counts.get(row.category ?? 'no category') ?? 0) + row.count);
    const group = page.locator('.table-row.group').first();
    const [name] = (await group.innerText()).split(/\s*\d/);
    const cells = await group.locator('[role=gridcell]').allInnerTexts();
    assert.ok(
      cells.map((cell) => cell.replaceAll('\u202f', '')).includes(String(counts.get(name.trim()))),
      `${name}: ${cells} of ${[...counts]}`,
    );
    const below = page.locator('.table-row').nth(1);
    assert.equal(await group.getAttribute('aria-expanded'), 'false', 'groups are closed at first');
    assert.equal(await below.getAttribute('aria-level'), '1');
    await group.focus();
    await page.keyboard.press('ArrowRight');
    await until(
      page,
      'unfolded',
      async () =>
        (await below.getAttribute('aria-level')) === '2' && (await group.getAttribute('aria-expanded')) === 'true',
    );
    await page.keyboard.press('ArrowLeft');
    await until(page, 'folded', async () => (await group.getAttribute('aria-expanded')) === 'false');
  }),

  'what a filter leaves and what is chosen is summed, and copied': at(
    '?run=step_1000&view=ops',
    async ({ page, url, context }) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const { rows } = await json(url, `${TOP}&limit=1000`);
      const counted = (list) => String(list.reduce((all, row) => all + row.count, 0));
      const cells = (row) => row.locator('[role=gridcell]').allInnerTexts();
      const plain = async (row) => (await cells(row)).map((text) => text.replaceAll('\u202f', ''));
      await page.locator('.filter input').fill('dot');
      const dots = rows.filter(({ name }) => name.includes('dot'));
      const left = page.locator('.table-row.sum', { hasText: `${dots.length} of ${rows.length}` });
      await left.waitFor();
      assert.ok((await plain(left)).includes(counted(dots)), `${await plain(left)}: ${counted(dots)} executions`);
      await page.locator('.table-row').first().focus();
      await page.keyboard.press(' ');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press(' ');
      const chosen = page.locator('.table-row.sum', { hasText: '2 rows chosen' });
      await chosen.waitFor();
      assert.ok((await plain(chosen)).includes(counted(dots.slice(0, 2))));
      await page.keyboard.press('Control+c');
      const clip = () => page.evaluate(() => navigator.clipboard.readText());
      await until(page, 'the copy', async () => (await clip()).trim().split('\n').length === 3);
    },
  ),

  'bars are shares of the whole': at('?run=step_1000&view=ops', async ({ page, url }) => {
    const { rows } = await json(url, `${TOP}&limit=1`);
    const bar = page.locator('.table-row').first().locator('.cell-bar');
    const [track, inside] = [await bar.boundingBox(), await bar.locator('span').boundingBox()];
    assert.ok(Math.abs(inside.width / track.width - rows[0].share) < 0.02, `${inside.width} of ${track.width}`);
  }),

  'Markdown is what the page shows, in plain letters': at('?run=step_1000&view=ops', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const clip = () => page.evaluate(() => navigator.clipboard.readText());
    await page.locator('.table-row').first().focus();
    await page.keyboard.press('Control+Shift+c');
    await until(page, 'Markdown', async () => /^\| op \|.*\n\|---\|/.test(await clip()));
    const [heads, , first] = (await clip()).split('\n');
    assert.match(heads, /\| self \((µs|ms)\) \|/);
    assert.match(first, /^\| [\w.]+ \|.* \| \d+ \| [\d.]+ \| [\d.]+ % \|/);
  }),

  'arrows enter the cells and the head; T shows a row on the timeline': at(
    '?run=step_1000&view=ops',
    async ({ page }) => {
      const name = await firstName(page);
      const focus = () =>
        page.evaluate(() =>
          [
            document.activeElement?.getAttribute('role') ?? document.activeElement?.tagName,
            document.activeElement?.getAttribute('aria-colindex'),
          ].join(),
        );
      await page.locator('.table-row').first().focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await until(page, 'the second cell', async () => (await focus()) === 'gridcell,2');
      await page.keyboard.press('ArrowUp');
      await until(page, 'the head', async () => (await focus()) === 'BUTTON,');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('t');
      await until(page, 'the timeline', () => address(page).view === 'timeline' && address(page).find === opOf(name));
    },
  ),

  'a head is dragged wider, a double click fits it': at('?run=step_1000&view=ops', async ({ page }) => {
    const head = page.locator('.table-head [role=columnheader]').first();
    const before = (await head.boundingBox()).width;
    const grip = await head.locator('.grip').boundingBox();
    await page.mouse.move(grip.x + 4, grip.y + 8);
    await page.mouse.down();
    await page.mouse.move(grip.x + 64, grip.y + 8, { steps: 3 });
    await page.mouse.up();
    const wider = (await head.boundingBox()).width;
    assert.ok(Math.abs(wider - before - 60) < 3, `${before} to ${wider}`);
    await page.mouse.dblclick(grip.x + 64, grip.y + 8);
    await until(page, 'fitted', async () => (await head.boundingBox()).width < wider);
  }),

  "an op's name opens its card, its count its slices on the timeline": at(
    '?run=step_1000&view=ops',
    async ({ page, url }) => {
      const name = await firstName(page);
      await page.locator('.table-row a').first().click();
      const card = page.locator('.op-card');
      await card.locator('.op-steps').waitFor();
      assert.equal(address(page).view, 'ops');
      await card.getByRole('heading', { name: /^Operands \d/ }).waitFor();
      await page.keyboard.press('Escape');
      await until(page, 'closed', async () => (await card.count()) === 0);
      await page.locator('.table-row .number a').first().click();
      await until(page, 'the timeline', () => address(page).view === 'timeline' && address(page).find === opOf(name));
      const reply = await json(url, `api/search?run=step_1000&step=counted&q=${encodeURIComponent(opOf(name))}`);
      await page.getByRole('tab', { name: `Search ${reply.row_count}` }).waitFor();
      assert.equal(address(page).step, '1000-1004');
    },
  ),

  'an operand on the card leads to its own': at(
    '?run=step_1000&view=ops&op=dot.43&in=jit_train_step',
    async ({ page, url }) => {
      const { instruction } = await json(url, 'api/hlo?run=step_1000&module=jit_train_step&instruction=dot.43');
      const ran = instruction.neighbours.find(
        ({ distance, self_ps: self }) => Math.abs(distance) === 1 && self !== null,
      );
      const link = page.locator('.op-card .hlo-hop a', { hasText: ran.name }).first();
      await link.click();
      await until(page, 'its card', (at) => at.op === ran.name && at.view === 'ops');
      await page.locator('.op-card h2', { hasText: ran.name }).waitFor();
    },
  ),

  'tables are of the steps that count, and of the whole recording when asked': at(
    '?run=step_1500&view=ops',
    async ({ page, url }) => {
      const total = async (step) => (await json(url, `api/top?run=step_1500&limit=1${step}`)).row_count;
      const words = async () => (await page.locator('.sentence').innerText()).replaceAll('\u202f', '');
      assert.match(await words(), new RegExp(`^${await total('&step=counted')} ops .* in steps 1500–1504`));
      await page.getByRole('button', { name: 'Remove counted steps' }).click();
      await until(page, 'the whole recording', (at) => at.step === 'all');
      await settle(page);
      assert.match(await words(), new RegExp(`^${await total('')} ops `));
      assert.doesNotMatch(await words(), /in steps/);
      await page.getByRole('button', { name: 'Remove whole recording' }).click();
      await until(page, 'the counted steps', (at) => at.step === undefined);
    },
  ),

  'a scope leads to its ops': at('?run=step_1000&view=ops&by=scope', async ({ page }) => {
    await page.locator('.table-row a').first().click();
    await until(page, 'ops of the scope', () => address(page).by === 'op' && address(page).scope !== undefined);
    await page.locator('.chip', { hasNotText: 'counted steps' }).getByRole('button').click();
    await until(page, 'the chip is gone', () => address(page).scope === undefined);
  }),

  'rows move by keys': at('?run=step_1000&view=ops', async ({ page }) => {
    await page.locator('.table-row').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await until(
      page,
      'third row',
      async () => (await page.evaluate(() => document.activeElement?.getAttribute('data-index'))) === '2',
    );
    await page.keyboard.press('End');
    await until(
      page,
      'last row',
      async () => Number(await page.evaluate(() => document.activeElement?.getAttribute('data-index'))) > 50,
    );
  }),

  'the CSV link answers with the same first row': at('?run=step_1000&view=ops', async ({ page, url }) => {
    const href = await page.locator('.toolbar a', { hasText: 'CSV' }).getAttribute('href');
    const text = await fetch(new URL(href, url)).then((reply) => reply.text());
    assert.ok(text.split('\n')[1].includes(await firstName(page)));
  }),

  'a step leads to its window': at('?run=step_1000&view=steps', async ({ page, url }) => {
    const steps = await json(url, 'api/steps?run=step_1000');
    await page.locator('.table-row').nth(2).click();
    await until(page, 'the timeline', () => address(page).view === 'timeline');
    const [start, end] = address(page).window.split('-').map(Number);
    assert.ok(start < steps.rows[2].start_ps && end > steps.rows[2].start_ps + steps.rows[2].dur_ps);
  }),

  'the flame graph zooms and returns': at('?run=step_1000&view=flame', async ({ page }) => {
    const box = await page.locator('.flame').boundingBox();
    await page.mouse.click(box.x + 20, box.y + 50);
    await until(page, 'a zoom', () => address(page).zoom !== undefined);
    const deep = address(page).zoom;
    await page.goBack();
    await until(page, 'no zoom', () => address(page).zoom === undefined);
    await page.goto(`${page.url()}&zoom=${encodeURIComponent(deep)}`);
    await settle(page);
    assert.ok((await page.locator('.crumbs a').count()) >= 2);
    await page.keyboard.press('/');
    await page.keyboard.type('fusion');
    await until(page, 'found', async () =>
      /found, [\d.]+.% of (device )?time/.test(await page.locator('.toolbar').innerText()),
    );
  }),

  'a run without a capture time is last; one that is being written is first': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      await changeAnswers(page, '**/api/runs?**', (list) => {
        const made = (name, state, more) => ({ ...list.runs[0], id: name, name, state, started_at: null, ...more });
        const modified_at = '2040-01-01T00:00:00Z';
        return {
          ...list,
          runs: [made('no clock', 'ready', { modified_at }), ...list.runs, made('now', 'writing', { modified_at })],
        };
      });
      await page.goto(`${url}?view=runs`);
      await page.getByRole('link', { name: 'no clock' }).waitFor();
      const names = await page.locator('.table-body .table-row a:first-of-type').allInnerTexts();
      assert.equal(names[0].trim(), 'now');
      assert.equal(names.at(-1).trim(), 'no clock');
    } finally {
      await context.close();
    }
  },

  'what the counted steps leave out is told by where it lies, and leads there': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      const { rows } = await json(url, 'api/steps?run=step_1000');
      const first = rows[0];
      const end = String(BigInt(first.start_ps) + BigInt(first.dur_ps));
      const part = await json(url, `api/top?run=step_1000&by=op&limit=1&start_ps=${first.start_ps}&end_ps=${end}`);
      await changeAnswers(page, '**/api/steps?**', (steps) => ({
        ...steps,
        rows: steps.rows.map((row, at) => ({ ...row, warmup: at === 0 })),
      }));
      /* Of the whole recording there is twice as much as in the steps. */
      await changeAnswers(page, /api\/top\?(?!.*(step|start_ps|end_ps)=)/, (top) => ({
        ...top,
        total_self_ps: 2 * Number(top.total_self_ps),
      }));
      await page.goto(`${url}?run=step_1000&view=ops`);
      const told = page.locator('.outside');
      await told.getByText('in 1 warm-up step').waitFor();
      assert.match(
        (await told.innerText()).replaceAll(/\s/g, ' '),
        /^Another 180 ms lies outside of these steps: .*[\d.]+ .s in 1 warm-up step.*, [\d.]+ .s between them\. The/,
      );
      const link = told.getByRole('link').first();
      const ms = Number(part.total_self_ps) / 1e9;
      assert.ok(Math.abs(parseFloat(await link.innerText()) - ms) < 0.01 * ms, 'as the table of that window has it');
      await link.click();
      await until(page, 'that window', (now) => now.start_ps === String(first.start_ps) && now.end_ps === end);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },

  'a failed run says why over all columns that it has nothing for': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    const why =
      'A result that TensorBoard computed from a profile, without a timeline and without any op; ' +
      'look for the *.xplane.pb of the same session, or record it again.';
    try {
      await changeAnswers(page, '**/api/runs?**', (list) => ({
        ...list,
        runs: [{ ...list.runs[0], id: 'f', name: 'bad', state: 'failed', error: `odd.json: ${why}` }, ...list.runs],
      }));
      await page.goto(`${url}?view=runs`);
      const row = page.locator('.table-row', { has: page.getByRole('link', { name: 'bad', exact: true }) });
      const cell = row.locator('[aria-colspan]');
      assert.equal((await cell.innerText()).trim(), `failed: odd.json: ${why}`);
      for (const width of [1280, 1900]) {
        await page.setViewportSize({ width, height: 720 });
        const [box, text] = [await cell.boundingBox(), await cell.locator('span').boundingBox()];
        assert.ok(await cell.evaluate((it) => it.scrollWidth <= it.clientWidth), `${width}: not cut`);
        assert.ok(text.y >= box.y - 0.5 && text.y + text.height <= box.y + box.height + 0.5, `${width}: in its row`);
      }
      assert.equal(await cell.getAttribute('data-tip'), `odd.json: ${why}`);
      await row.focus();
      for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowRight');
      assert.ok(await cell.evaluate((it) => document.activeElement === it), 'reached by the arrows');
    } finally {
      await context.close();
    }
  },

  'runs: filter, open, theme': at('?view=runs', async ({ page, url }) => {
    const { runs } = await json(url, 'api/runs?limit=1000');
    const named = runs.filter((run) => run.name.includes('step_1')).length;
    await page.locator('.filter input').fill('step_1');
    await until(page, `${named} rows`, async () => (await page.locator('.table-row').count()) === named);
    await page.getByRole('button', { name: /dark theme/ }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.getByRole('link', { name: 'step_1500', exact: true }).click();
    await until(page, 'the run', () => address(page).run === 'step_1500' && address(page).q === undefined);
    await page.reload();
    assert.equal(
      await page.evaluate(() => document.documentElement.dataset.theme),
      'dark',
      'kept over a reload, before the first paint',
    );
  }),
};
