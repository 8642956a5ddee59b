/* SPDX-License-Identifier: Apache-2.0 */
/* Around the views: palette and help from one list, the dock, a lost server, facets, the hand-over. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { changeAnswers, openPage, pass, settle, until } from './browser.mjs';
import { VIEWS } from './views.mjs';

function at(query, body, options = {}) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url, options);
    try {
      await opened.page.goto(url + query);
      await settle(opened.page);
      await body({ ...opened, url });
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
    }
  };
}

async function choose(page, words) {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Action' }).fill(words);
  await page.keyboard.press('Enter');
}

export const tests = {
  'the first page loads no more than 170 kB of script; graph and charts come when they are opened': async ({
    browser,
    url,
  }) => {
    const { page, context } = await openPage(browser, url);
    try {
      const loaded = new Map();
      page.on('response', (response) => {
        const name = new URL(response.url()).pathname;
        if (name.endsWith('.js')) loaded.set(name.replace(/^.*\//, ''), response.body());
      });
      const visit = async (query) => {
        loaded.clear();
        await page.goto(url + query);
        await settle(page);
        const sizes = await Promise.all([...loaded.values()].map(async (body) => gzipSync(await body).length));
        return { names: [...loaded.keys()], bytes: sizes.reduce((sum, size) => sum + size, 0) };
      };
      const lists = await visit('?view=runs');
      const first = await visit('?run=step_1000');
      for (const { bytes, names } of [lists, first])
        assert.ok(bytes > 20_000 && bytes <= 170_000, `${bytes} bytes: ${names.join()}`);
      const { names } = await visit('?run=step_1000&view=hlo&module=jit_train_step&as=graph');
      await page.locator('.hlo-picture[data-painted]').waitFor();
      const late = [...new Set([...names, ...loaded.keys()])].filter((name) => !first.names.includes(name));
      assert.ok(late.length > 0, 'the graph comes by itself');
    } finally {
      await context.close();
    }
  },

  'G and a letter opens each page, however fast': at('?run=step_1000', async ({ page, complaints }) => {
    const letters = Object.entries(VIEWS).filter(([view, letter]) => letter !== '' && view !== 'trend'); // of a run
    for (const pause of [20, 40, 80])
      for (const [view, letter] of letters) {
        await page.keyboard.press('g');
        await page.keyboard.press(letter);
        await pass(page, pause);
        await until(page, `G ${letter}`, (now) => (now.view ?? 'overview') === view);
      }
    assert.equal(await page.locator('.tabs nav a').count(), letters.length, 'a letter for each tab');
    await settle(page);
    assert.deepEqual(complaints, [], 'the console');
  }),
  'what the help lists, the palette does; views, settings and tracks too': at(
    '?run=step_1000&view=timeline',
    async ({ page }) => {
      await page.keyboard.press('?');
      const help = await page.locator('dialog.help').innerText();
      for (const words of [
        'along the critical path, else the flow',
        'next, previous idle gap',
        'keep the range as a mark',
        'long press',
      ])
        assert.ok(help.includes(words), words);
      await page.keyboard.press('Escape');
      await choose(page, 'window = whole run');
      await until(page, 'the whole run', (now) => now.window?.startsWith('-'));
      await choose(page, 'dense rows');
      await until(page, 'dense rows', () => page.evaluate(() => document.documentElement.dataset.rows === 'dense'));
      await choose(page, 'op profile');
      await until(page, 'the flame graph', (now) => now.view === 'flame');
      await settle(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'the heaviest left' }).waitFor();
      assert.equal(
        await page.getByRole('option', { name: 'range = focus' }).count(),
        0,
        'what cannot be done here is not offered',
      );
      await page.keyboard.press('Escape');
      await choose(page, 'python');
      await until(page, 'that track', (now) => now.view === 'timeline' && now.track !== undefined);
      await page.keyboard.press('g');
      await page.keyboard.press('g');
      await until(page, 'the runs', (now) => now.view === 'runs' && now.run === undefined);
      await page.keyboard.press('g');
      await page.keyboard.press('e');
      await until(page, 'the trend', (now) => now.view === 'trend');
    },
  ),

  'details dock at the right where there is room': at(
    '?run=step_1000&view=timeline',
    async ({ page }) => {
      const below = await page.locator('.lower').boundingBox();
      await page.keyboard.press('\\');
      const beside = await page.locator('.lower').boundingBox();
      assert.ok(beside.x > 1400 && beside.y < 100 && below.y > 500, JSON.stringify({ below, beside }));
      await settle(page);
      await page.keyboard.press('\\');
      assert.deepEqual(await page.locator('.lower').boundingBox(), below);
    },
    { viewport: { width: 1920, height: 1080 } },
  ),

  'without a server the bar counts down, Now asks, and the page recovers': at(
    '?run=step_1000&view=ops',
    async ({ page, context }) => {
      await context.setOffline(true);
      await page.keyboard.press('g');
      await page.keyboard.press('f');
      await page.getByRole('alert').filter({ hasText: 'No answer from the server since' }).waitFor();
      await page.getByText(/Next try in \d+.s\./).waitFor();
      await page.getByText(/Next try in ([4-9]|\d\d).s\./).waitFor();
      await page.goBack();
      assert.ok((await page.locator('.table-row').count()) > 10, 'what was seen stays');
      await context.setOffline(false);
      await page.getByRole('button', { name: 'Now' }).click();
      await until(page, 'the bar is gone', async () => (await page.getByText('No answer').count()) === 0);
    },
  ),

  'a facet writes its word into the filter and takes it back': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.route('**/api/events', (route) => route.abort());
      await changeAnswers(page, '**/api/runs?**', (list) => ({
        ...list,
        runs: list.runs.map((run, index) => ({ ...run, device_kind: index === 0 ? 'TPU v6 Lite' : 'T4' })),
      }));
      await page.goto(`${url}?view=runs`);
      await settle(page);
      const all = await page.locator('.table-row').count();
      const facet = page.locator('.facet-value', { hasText: 'TPU v6 Lite' });
      await facet.click();
      await until(
        page,
        'narrowed',
        async (now) => now.q === 'device:"TPU v6 Lite"' && (await page.locator('.table-row').count()) === 1,
      );
      assert.equal(await facet.getAttribute('aria-pressed'), 'true');
      await facet.click();
      await until(
        page,
        'all again',
        async (now) => now.q === undefined && (await page.locator('.table-row').count()) === all,
      );
      assert.deepEqual(
        complaints.filter((one) => !/ERR_FAILED/.test(one)),
        [],
      );
    } finally {
      await context.close();
    }
  },

  'the title says what takes how long; the copied link names the run by its id': at(
    '?run=step_1000&view=ops&sort=-count',
    async ({ page, context, url }) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const run = await fetch(`${url}api/run?run=step_1000`).then((reply) => reply.json());
      assert.match((await page.title()).replaceAll('\u202f', ' '), /^[\d.]+ ms · step_1000 · Ops – jviewd$/);
      await page.keyboard.press('y');
      await page.getByText('Link copied.').waitFor();
      const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
      assert.deepEqual(Object.fromEntries(link.searchParams), { run: run.id, view: 'ops', sort: '-count' });
    },
  ),

  'a view that fails says so, is asked again by hand, and reports': at(
    '?run=step_1000&view=files',
    async ({ page, context }) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const broken = (route) =>
        route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify({ title: 'x', status: 500, detail: 'the disk is on fire' }),
        });
      await page.route('**/api/top**', broken);
      await page.keyboard.press('g');
      await page.keyboard.press('p');
      await page.getByText('the disk is on fire').waitFor();
      await page.getByRole('button', { name: 'Copy report' }).click();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /500 .*the disk is on fire/);
      await page.unroute('**/api/top**', broken);
      await page.getByRole('button', { name: 'Try again' }).click();
      await until(page, 'the ops', async () => (await page.locator('.table-row').count()) > 10);
    },
  ),

  'a view that breaks leaves the others alive': at('?run=step_1000&view=files', async ({ page }) => {
    const odd = (route) =>
      route.fulfill({
        json: { by: 'op', of: 'device', row_count: 1, total_self_ps: 1, rows: [null], notes: [], approx: [] },
      });
    await page.route('**/api/top**', odd);
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByText('This view failed').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByText(/5 steps, median/).waitFor();
    await page.unroute('**/api/top**', odd);
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByText('This view failed').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await until(page, 'the ops', async () => (await page.locator('.table-row').count()) > 10);
  }),

  'a run that is being read is asked for its tracks alone, and each thing once': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.slice(1)));
    const count = (path) => asked.filter((one) => one === path).length;
    let isRead = false;
    try {
      /* A lock that comes late means another tab had it, and then all is asked anew. */
      await page.addInitScript(() => delete Navigator.prototype.locks);
      await changeAnswers(page, '**/api/run?**', (run) =>
        isRead ? run : { ...run, state: 'indexing', content_id: null, progress: 0.4 },
      );
      const held = [];
      await page.route('**/api/tracks?**', (route) => (isRead ? route.continue() : held.push(route)));
      await page.goto(`${url}?run=latest&view=timeline`);
      await page.getByText(/^Indexing/).waitFor();
      await until(page, 'its name in the address', (now) => now.run !== 'latest');
      assert.equal(count('api/tracks'), 1, 'by latest and by its name the same question');
      isRead = true;
      for (const route of held) await route.continue();
      await until(page, 'tiles', () =>
        page.locator('.tracks-canvas').evaluate((one) => Number(one.dataset.covered) > 0),
      );
      assert.deepEqual(['api/overview', 'api/steps', 'api/tracks'].map(count), [0, 1, 1]);
    } finally {
      await context.close();
    }
  },

  'view=perfetto stands ready to hand over, and waits for the click': at(
    '?run=step_1000&view=perfetto',
    async ({ page, context }) => {
      await context.route('https://ui.perfetto.dev/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<p>stand-in</p>' }),
      );
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      assert.equal(context.pages().length, 1, 'no tab without a click');
      assert.equal(await page.getByText('The address is odd').count(), 0);
      const opened = context.waitForEvent('page');
      await dialog.getByRole('button', { name: 'Open the whole run' }).click();
      assert.match((await opened).url(), /^https:\/\/ui\.perfetto\.dev/);
      await until(page, 'the run page', (now) => now.view === undefined);
    },
  ),
};
