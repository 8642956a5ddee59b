/* SPDX-License-Identifier: Apache-2.0 */
/* Without a mouse: the three things people come for, by keys alone; and the page as it is zoomed,
 * in forced colours, and before its first paint. */
import assert from 'node:assert/strict';
import { violations } from './axe.mjs';
import { json, openPage, pass, settle, until } from './browser.mjs';
import { VIEWS } from './views.mjs';

/* A page whose mouse was taken away. */
function by(query, body, options = {}) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url, options);
    try {
      await opened.page.goto(url + query);
      await settle(opened.page);
      const keys = opened.page.keyboard;
      await body({
        ...opened,
        url,
        press: async (...all) => {
          for (const key of all) await keys.press(key);
        },
        type: (text) => keys.type(text),
      });
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
    }
  };
}

const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? '');

/* Tab until the focus is on what fits. */
async function tabTo(page, what, fits) {
  for (let turn = 0; turn < 60; turn++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(fits)) return;
  }
  assert.fail(`Tab does not lead to ${what}`);
}

const inRow = () => document.activeElement?.classList.contains('table-row') ?? false;

export const tests = {
  'the slowest op and its line of source': by('?view=runs', async ({ page, url, press, type }) => {
    const top = await json(url, 'api/top?run=step_1000&limit=1');
    await tabTo(page, 'the runs', inRow);
    await type("'step_1000");
    await until(page, 'that row', async () => (await focused(page)).startsWith('step_1000'));
    await pass(page, 1300); // what is typed next is no name any more
    await press('Enter');
    await until(page, 'the run', (now) => now.run === 'step_1000');
    await settle(page);
    await press('g', 'p');
    await until(page, 'ops', (now) => now.view === 'ops');
    await settle(page);
    await tabTo(page, 'the ops', inRow);
    const row = await focused(page);
    assert.ok(row.startsWith(top.rows[0].name), row);
    const line = top.rows[0].source.slice(top.rows[0].source.lastIndexOf('/') + 1).slice(-8);
    assert.ok(row.includes(line), `${row} has ${line}`);
    await press('t');
    await until(
      page,
      'its slices',
      (now) => now.view === 'timeline' && now.find?.startsWith(`op:${top.rows[0].name} `),
    );
  }),

  'why the slowest step took so long': by('?run=step_1000&view=steps', async ({ page, url, press }) => {
    const { rows } = await json(url, 'api/steps?run=step_1000');
    const slowest = rows.reduce((a, b) => (b.dur_ps > a.dur_ps ? b : a));
    await tabTo(page, 'the steps', inRow);
    await press('ArrowUp'); // into the head
    for (let turn = 0; turn < 8 && !(await focused(page)).startsWith('time'); turn++) await press('ArrowRight');
    await press('Enter');
    await until(page, 'slowest first', (now) => now.sort === '-dur_ps');
    await press('ArrowDown', 'Home');
    const row = await focused(page);
    assert.ok(row.startsWith(String(slowest.step)), row);
    if (slowest.slowest_by) assert.ok(row.includes(slowest.slowest_by.slice(0, 8)), 'what took longer');
    await press('Enter');
    await until(page, 'its window', (now) => {
      const [start, end] = (now.window ?? '0-0').split('-').map(Number);
      return now.view === 'timeline' && start <= slowest.start_ps && end >= slowest.start_ps + slowest.dur_ps;
    });
  }),

  'a window goes to Perfetto': by(
    '?run=step_1000&view=timeline',
    async ({ page, context, press, type }) => {
      await context.route('https://ui.perfetto.dev/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<p>stand-in</p>' }),
      );
      await press('ArrowRight');
      await until(page, 'a slice', (now) => now.slice !== undefined);
      await press('m');
      await until(page, 'its range', (now) => now.start_ps !== undefined);
      await press('Control+k');
      await type('perfetto');
      const opened = context.waitForEvent('page', { timeout: 10_000 }).catch(() => null);
      await press('Enter');
      const direct = await opened;
      if (direct === null) {
        await page.getByRole('dialog').waitFor();
        const second = context.waitForEvent('page');
        await press('Enter');
        await second;
      }
      assert.ok(
        context.pages().some((one) => one.url().startsWith('https://ui.perfetto.dev')),
        'a tab of Perfetto',
      );
    },
    { allow: ['https://ui.perfetto.dev'] },
  ),

  'at 200 % nothing is lost: one column, all reachable': by(
    '?run=step_1000&view=ops',
    async ({ page }) => {
      for (const view of ['overview', 'ops', 'steps', 'hlo', 'files', 'timeline']) {
        await page.evaluate((one) => history.pushState(null, '', one), `?run=step_1000&view=${view}`);
        await page.reload();
        await settle(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${view} is ${wide} px wider than the window`);
        const lost = await page
          .locator('.header .actions button, .header .actions a')
          .evaluateAll((all) =>
            all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.textContent),
          );
        assert.deepEqual(lost, [], `${view}: beyond the edge`);
        assert.ok(
          await page.locator('.header h1 .cut').evaluate((name) => name.scrollWidth <= name.clientWidth),
          'the run is called by its whole name',
        );
      }
      assert.ok((await page.locator('.tracks-canvas').boundingBox()).height >= 60, 'rows of the timeline are seen');
    },
    { viewport: { width: 640, height: 360 } },
  ),

  'at 400 % each page scrolls one way: only tables and the timeline go sideways, in themselves': by(
    '?run=step_1500&view=overview',
    async ({ page }) => {
      const pages = [
        '?view=runs',
        '?view=trend',
        '?view=settings',
        '?view=compare&a=step_500&b=step_1000',
        ...Object.keys(VIEWS)
          .filter((view) => !['compare', 'trend'].includes(view))
          .map((view) => `?run=step_1500&view=${view}`),
        '?run=step_1500&view=ops&as=tree',
        '?run=step_1500&view=memory&part=heap',
        '?run=step_1500&view=hlo&module=jit_train_step&as=graph',
      ];
      const wide = [];
      for (const one of pages) {
        await page.goto(new URL(one, page.url()).href);
        await settle(page);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) wide.push(`${one} by ${over} px`);
        const name = page.locator('.header h1').last();
        if (one.includes('run=step_1500') && (await name.evaluate((h1) => h1.clientWidth)) < 60)
          wide.push(`${one}: the run has no name`);
      }
      assert.deepEqual(wide, []);
    },
    { viewport: { width: 320, height: 256 } },
  ),

  'in forced colours chosen rows, bars and the focus are seen': by(
    '?run=step_1000&view=ops',
    async ({ page, press }) => {
      await tabTo(page, 'the ops', inRow);
      await press('ArrowDown');
      const looks = await page.evaluate(() => {
        const row = document.querySelector('.table-row[aria-selected=true]');
        const bar = document.querySelector('.cell-bar > span');
        return {
          row: getComputedStyle(row).backgroundColor,
          page: getComputedStyle(document.body).backgroundColor,
          bar: getComputedStyle(bar).backgroundColor,
          outline: getComputedStyle(document.activeElement).outlineStyle,
        };
      });
      assert.notEqual(looks.row, looks.page);
      assert.notEqual(looks.bar, looks.page);
      assert.notEqual(looks.outline, 'none');
    },
    { forcedColors: 'active' },
  ),

  'settings: contrast, unit and theme hold over a reload, before the first paint; nothing serious for axe': by(
    '?view=settings',
    async ({ page, url }) => {
      await page.getByLabel('contrast').selectOption('more');
      await page.getByRole('combobox', { name: 'theme' }).selectOption('dark');
      await page.getByLabel('times in tables').selectOption('µs');
      await page.getByLabel('editor').fill('nonsense');
      await page.getByLabel('editor').blur();
      await page.getByText('An address of an editor is needed').waitFor();
      for (const theme of ['dark', 'light']) {
        await page.getByRole('combobox', { name: 'theme' }).selectOption(theme);
        assert.deepEqual(await violations(page), []);
      }
      await page.addInitScript(() => {
        new MutationObserver((_, watch) => {
          if (!document.body) return;
          globalThis.atFirst = { ...document.documentElement.dataset };
          watch.disconnect();
        }).observe(document, { childList: true, subtree: true });
      });
      await page.goto(`${url}?run=step_1000&view=ops`);
      await settle(page);
      assert.deepEqual(await page.evaluate(() => [globalThis.atFirst.theme, globalThis.atFirst.contrast]), [
        'light',
        'more',
      ]);
      assert.equal(await page.getByRole('columnheader', { name: 'self (µs)' }).count(), 1);
    },
  ),

  'the palette takes letters for words, and opens another run': by(
    '?run=step_1000&view=ops',
    async ({ page, press, type }) => {
      await press('Control+k');
      await type('hlst');
      assert.match(await page.locator('.palette [aria-selected=true]').innerText(), /hlo stats/);
      await page.getByRole('combobox', { name: 'Action' }).fill('step_1500');
      await page.getByRole('option', { name: /step_1500/ }).waitFor();
      await press('Enter');
      await until(page, 'the other run, the same view', (now) => now.run === 'step_1500' && now.view === 'ops');
    },
  ),
};
