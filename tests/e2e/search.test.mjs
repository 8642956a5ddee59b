/* SPDX-License-Identifier: Apache-2.0 */
/* Searching on the timeline: terms, counts where they are, and more hits than a page. */
import assert from 'node:assert/strict';
import { json, openPage, rest, settle } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';

async function open(browser, url, more) {
  const opened = await openPage(browser, url);
  await opened.page.goto(url + QUERY + more);
  await settle(opened.page);
  return opened;
}

function scene(more, body) {
  return async ({ browser, url }) => {
    const opened = await open(browser, url, more);
    try {
      await body({ ...opened, url });
      assert.deepEqual(opened.complaints, [], 'the console');
    } finally {
      await opened.context.close();
    }
  };
}

/* How many pixels of a canvas have the accent's colour. */
const accentPixels = (page, selector) =>
  page.evaluate((of) => {
    const canvas = document.querySelector(of);
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count++;
    return count;
  }, selector);

export const tests = {
  'terms hold at once, and the tab counts what the API counts': scene(
    '&find=fusion+dur%3E100us',
    async ({ page, url }) => {
      const reply = await json(url, 'api/search?run=step_1000&q=fusion+dur%3E100us');
      const all = await json(url, 'api/search?run=step_1000&q=fusion');
      assert.ok(reply.row_count > 0 && reply.row_count < all.row_count, `${reply.row_count} of ${all.row_count}`);
      assert.ok(reply.rows.every((row) => row.dur_ps > 1e8));
      await page.getByRole('tab', { name: new RegExp(`^Search ${reply.row_count}$`) }).waitFor();
    },
  ),

  'hits are drawn on the minimap and on the tracks, and go with the search': scene('&find=fusion', async ({ page }) => {
    await rest(page);
    assert.ok((await accentPixels(page, '.minimap canvas')) > 20, 'on the minimap');
    assert.ok((await accentPixels(page, '.tracks-canvas canvas:nth-of-type(2)')) > 20, 'on the tracks');
    await page.locator('.tracks-canvas').press('Escape');
    await page.waitForFunction(() => !location.search.includes('find='));
    await rest(page);
    assert.equal(await accentPixels(page, '.minimap canvas'), 0);
    assert.equal(await accentPixels(page, '.tracks-canvas canvas:nth-of-type(2)'), 0);
  }),

  'a word that stands in no name is found in args, scopes and sources, and says where': async ({ browser, url }) => {
    const { rows } = await json(url, 'api/top?run=step_1000&by=scope&limit=1');
    const word = rows[0].name.slice(-24);
    const reply = await json(url, `api/search?run=step_1000&limit=1000&q=${encodeURIComponent(`"${word}"`)}`);
    assert.ok(reply.row_count > 0, word);
    for (const row of reply.rows.slice(0, 8)) {
      const slice = await json(url, `api/slice?run=step_1000&id=${row.id}`);
      const place = row.matched === 'arg' ? slice.args.map((arg) => String(arg.value)).join('\n') : slice[row.matched];
      assert.ok(
        row.matched !== 'name' && place.toLowerCase().includes(word.toLowerCase()),
        `${word} in ${row.matched} of ${row.name}`,
      );
    }
    const { page, context } = await open(browser, url, `&find=${encodeURIComponent(`"${word}"`)}`);
    await page.locator('.lower .table-row').first().waitFor();
    assert.match(
      await page.locator('.lower .table-row').first().innerText(),
      new RegExp(`^[^]*\\b${reply.rows[0].matched}\\b`),
    );
    await context.close();
  },

  'the list of hits goes on beyond its first page': scene('&find=e', async ({ page, url }) => {
    const reply = await json(url, 'api/search?run=step_1000&q=e&limit=1000');
    assert.ok(reply.next !== null, `${reply.row_count} hits are one page`);
    const last = (await json(url, `api/search?run=step_1000&q=e&limit=1000&cursor=${reply.next}`)).rows[0];
    await page.locator('.lower .table-row').first().click();
    await page.locator('.lower .lower-tabs [role=tab]', { hasText: /^Search/ }).click();
    const scroller = page.locator('.lower .table.scroll');
    for (let turn = 0; turn < 3; turn++) {
      await scroller.evaluate((element) => (element.scrollTop = element.scrollHeight));
      await rest(page);
    }
    const rows = await page
      .locator('.lower .table-row')
      .evaluateAll((all) => all.map((row) => Number(row.getAttribute('aria-rowindex'))));
    assert.ok(Math.max(...rows) > 1002, `the last row is ${Math.max(...rows)}, then would come ${last.name}`);
  }),

  'a term that is none is named': scene('&find=dur%3Esoon', async ({ page, complaints }) => {
    assert.match(await page.locator('.lower').innerText(), /a duration is a number with a unit/);
    complaints.length = 0; // the refused request
  }),
};
