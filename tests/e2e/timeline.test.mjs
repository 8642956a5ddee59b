/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline by hand and by key, against what the API says of the same run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { address, json, openPage, rest, settle, until, windowOf } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';

async function timeline(browser, url, query = QUERY) {
  const opened = await openPage(browser, url);
  await opened.page.goto(url + query);
  await settle(opened.page);
  const box = await opened.page.locator('.tracks-canvas').boundingBox();
  return { ...opened, box };
}

function scene(body) {
  return async ({ browser, url }) => {
    const opened = await timeline(browser, url);
    try {
      await body({ ...opened, url });
      assert.deepEqual(opened.complaints, [], 'the console');
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
    }
  };
}

/* The longest op of the run, and where it is on the screen once in focus. */
async function longestOp(url) {
  const reply = await json(url, 'api/slices?run=step_1000&sort=-dur_ps&limit=400');
  return reply.rows.find((row) => row.kind === 'compute');
}

async function focusOn(page, url, slice) {
  await page.goto(`${url}${QUERY}&slice=${slice.id}`);
  await settle(page);
}

export const tests = {
  'all rows are painted from tiles': scene(async ({ page }) => {
    const data = await page.locator('.tracks-canvas').evaluate((element) => ({ ...element.dataset }));
    assert.ok(Number(data.rows) > 5, `rows: ${data.rows}`);
    assert.equal(data.covered, data.rows);
  }),

  "a slice in the address is in focus, its figures the API's": scene(async ({ page, url }) => {
    const slice = await longestOp(url);
    await focusOn(page, url, slice);
    const text = (await page.locator('.lower').innerText()).replaceAll('\u202f', ' ');
    assert.ok(text.includes(slice.name));
    assert.ok(text.includes(`${(slice.dur_ps / 1e9).toFixed(1)} ms`), `${slice.dur_ps} in ${text.slice(0, 200)}`);
    assert.match(text, /hlo_op/);
    assert.match(
      await page
        .locator('#timeline-focus')
        .innerText()
        .catch(() => ''),
      new RegExp(slice.name.replaceAll('.', '\\.')),
    );
  }),

  'the legend says what the colours on the screen are, and goes with its key': scene(async ({ page }) => {
    const words = () => page.locator('.timeline-legend li').allInnerTexts();
    const kinds = await words();
    assert.ok(kinds.includes('host') && !kinds.includes('idle'), kinds.join());
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.timeline-legend li')].some((one) => one.textContent === 'matrix products'),
    );
    await page.locator('.tracks-canvas').press('Shift+C');
    await until(page, 'colour by name', (now) => now.colour === 'name');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.timeline-legend li')].some((one) => one.textContent === 'train'),
    );
    const fills = await page
      .locator('.timeline-legend .swatch:not(.unrecorded)')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
    assert.ok(
      fills.every((fill) => fill !== 'rgba(0, 0, 0, 0)'),
      fills.join(),
    );
    await page.locator('.tracks-canvas').press('l');
    await until(page, 'no legend', (now) => now.legend === 'off');
    assert.equal(await page.locator('.timeline-legend').count(), 0);
  }),

  'what is seen is saved as PNG and as SVG': scene(async ({ page, box, context }) => {
    const saved = async (as) => {
      await page.getByRole('button', { name: /^kind/ }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByRole('menuitemradio', { name: `Save what is seen as ${as}` })
          .or(page.getByRole('menuitem', { name: `Save what is seen as ${as}` }))
          .click(),
      ]);
      assert.equal(download.suggestedFilename(), `step_1000-timeline.${as.toLowerCase()}`);
      return readFileSync(await download.path());
    };
    const png = await saved('PNG');
    assert.equal(
      png.readUInt32BE(16),
      Math.round(2 * (220 + box.width)),
      'names and tracks side by side, twice as fine',
    );
    assert.equal(png.readUInt32BE(20), Math.round(2 * (24 + box.height)));
    const svg = (await saved('SVG')).toString();
    const other = await context.newPage(); // the page itself lets no text become a document
    const texts = await other.evaluate((source) => {
      const file = new DOMParser().parseFromString(source, 'image/svg+xml');
      return file.querySelector('parsererror')
        ? null
        : [...file.querySelectorAll('text')].map((one) => one.textContent);
    }, svg);
    assert.ok(texts !== null, 'well-formed');
    for (const word of ['train', 'python', '/host:CPU'])
      assert.ok(texts.includes(word), `${word} in ${texts.slice(0, 20)}`);
    assert.match(svg, /<image [^>]*href="data:image\/png;base64,/);
  }),

  'a click focuses what lies there, a click on nothing lets go': scene(async ({ page, box }) => {
    await page.mouse.click(box.x + box.width / 2, box.y + 24 + 8);
    await until(page, 'a slice in the address', (now) => now.slice !== undefined);
    assert.equal(await page.locator('.slice-name').innerText(), 'train');
    await page.keyboard.press('Escape');
    await until(page, 'no slice', (now) => now.slice === undefined);
  }),

  'hover tells name and duration': scene(async ({ page, box }) => {
    await page.mouse.move(box.x + box.width / 2, box.y + 24 + 8);
    await page.waitForFunction(() => /ms/.test(document.querySelector('.tooltip')?.textContent ?? ''));
    assert.match(await page.locator('.tooltip').innerText(), /^train/);
  }),

  'deep inside, times tell what is apart': scene(async ({ page, url, box }) => {
    await page.goto(`${url}${QUERY}&window=100000000000-100000200000`);
    await settle(page);
    const words = (where) =>
      page
        .locator(where)
        .first()
        .innerText()
        .then((text) => text.replaceAll('\u202f', ' '));
    assert.equal(await words('.words span'), '100.000 000 ms … 100.000 200 ms');
    assert.match(await words('.lower'), /200 ns of 1\d\d ms, <0\.01 steps;/);
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.locator('.ruler-cursor').waitFor();
    assert.match(await words('.ruler-cursor'), /^100\.000 (099|100) [\d ]*ms · step \d+ \+ /);
  }),

  'W zooms at the pointer, 0 shows all and returns': scene(async ({ page, box }) => {
    await page.mouse.move(box.x + box.width / 4, box.y + box.height - 4);
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await until(page, 'a window', (now) => now.window !== undefined);
    const near = windowOf(page);
    await page.keyboard.press('0');
    await until(page, 'a wider window', () => windowOf(page).end - windowOf(page).start > 2 * (near.end - near.start));
    await page.keyboard.press('0');
    await until(page, 'the window before', () => Math.abs(windowOf(page).start - near.start) < 1e6);
  }),

  'drag pans, ctrl and wheel zoom': scene(async ({ page, box }) => {
    await page.keyboard.down('Control');
    await page.mouse.move(box.x + box.width / 2, box.y + 100);
    await page.mouse.wheel(0, -600);
    await page.keyboard.up('Control');
    await until(page, 'a window', (now) => now.window !== undefined);
    const before = windowOf(page);
    const span = before.end - before.start;
    await page.mouse.move(box.x + 600, box.y + 250);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 250, { steps: 5 });
    await page.mouse.up();
    /* A slow hand's way may stand in the address before its end does. */
    const moved = () => (windowOf(page).start - before.start) / span;
    await until(page, 'moved as far as the hand', () => Math.abs(moved() - 100 / box.width) < 0.02);
  }),

  'a drag on the ruler makes a range; the table below adds up to the API': scene(async ({ page, box, url }) => {
    const ruler = await page.locator('.ruler').boundingBox();
    await page.mouse.move(box.x + 200, ruler.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, ruler.y + 10, { steps: 6 });
    await page.mouse.up();
    await until(page, 'a range', (now) => now.start_ps !== undefined && now.end_ps !== undefined);
    await settle(page);
    const { start_ps, end_ps } = address(page);
    const top = await json(url, `api/top?run=step_1000&by=op&start_ps=${start_ps}&end_ps=${end_ps}&limit=1`);
    /* The first row's name may be the same without the range. */
    await page.waitForFunction(
      ([name, share]) => {
        const row = document.querySelector('.lower .table-row')?.textContent;
        return row?.includes(name) && row.includes(share);
      },
      [top.rows[0].name, (top.rows[0].share * 100).toFixed(1)],
    );
    await page.keyboard.press('Escape');
    await until(page, 'no range', (now) => now.start_ps === undefined);
  }),

  'M makes the focus the range, F shows it': scene(async ({ page, url }) => {
    const slice = await longestOp(url);
    await focusOn(page, url, slice);
    await page.keyboard.press('m');
    await until(
      page,
      'the range',
      (now) => now.start_ps === String(slice.start_ps) && now.end_ps === String(slice.start_ps + slice.dur_ps),
    );
    await page.keyboard.press('f');
    await until(
      page,
      'the window',
      (now) =>
        now.window !== undefined &&
        Math.abs(windowOf(page).end - windowOf(page).start - 1.2 * slice.dur_ps) < slice.dur_ps / 100,
    );
  }),

  'arrows go to parent and child, N to the same name': scene(async ({ page, url }) => {
    const slice = await longestOp(url);
    await focusOn(page, url, slice);
    await page.keyboard.press('ArrowUp');
    await until(page, 'the parent', (now) => now.slice !== slice.id);
    const parent = await json(url, `api/slice?run=step_1000&id=${address(page).slice}`);
    assert.equal(parent.depth, slice.depth - 1);
    await focusOn(page, url, slice);
    await page.keyboard.press('n');
    await page.keyboard.press('p');
    await rest(page);
    const other = await json(url, `api/slice?run=step_1000&id=${address(page).slice}`);
    assert.equal(other.name, slice.name);
  }),

  'search counts as the API does, Enter walks the hits': scene(async ({ page, url }) => {
    await page.keyboard.press('/');
    await page.keyboard.type('fusion');
    await until(page, 'the word in the address', (now) => now.find === 'fusion');
    const reply = await json(url, 'api/search?run=step_1000&q=fusion');
    await page.getByRole('tab', { name: new RegExp(`^Search ${reply.row_count}$`) }).waitFor();
    await page.keyboard.press('Enter');
    await until(page, 'a hit', (now) => now.slice !== undefined);
    const first = address(page).slice;
    await page.keyboard.press('Enter');
    await until(page, 'the next hit', (now) => now.slice !== first);
    const hit = await json(url, `api/slice?run=step_1000&id=${address(page).slice}`);
    assert.match(hit.name, /fusion/);
  }),

  'tracks fold by click and by key': scene(async ({ page }) => {
    const python = page.getByRole('treeitem', { name: 'python' });
    assert.equal(await python.getAttribute('aria-expanded'), 'true');
    await python.click();
    assert.equal(await python.getAttribute('aria-expanded'), 'false');
    await python.press('ArrowRight');
    assert.equal(await python.getAttribute('aria-expanded'), 'true');
  }),

  'what is shown after moving equals a fresh load': scene(async ({ page, box, context, url }) => {
    await page.mouse.move(box.x + 700, box.y + 200);
    for (let turn = 0; turn < 4; turn++) await page.keyboard.press('w');
    for (let turn = 0; turn < 3; turn++) await page.keyboard.press('d');
    await page.mouse.move(5, 5);
    await until(page, 'a window', (now) => now.window !== undefined);
    await rest(page);
    const shot = await page.locator('.tracks-canvas').screenshot();
    const fresh = await context.newPage();
    await fresh.goto(page.url());
    await settle(fresh);
    const again = await fresh.locator('.tracks-canvas').screenshot();
    assert.ok(shot.equals(again), `the picture differs from a fresh load of ${page.url()} at ${url}`);
  }),

  'keys open help and palette, letters act outside fields only': scene(async ({ page }) => {
    await page.keyboard.press('?');
    await page.locator('dialog.help[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('hlo stats');
    await page.keyboard.press('Enter');
    await until(page, 'the ops', (now) => now.view === 'ops');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await until(page, 'the timeline', (now) => now.view === 'timeline');
    await page.goBack();
    await until(page, 'back at the ops', (now) => now.view === 'ops');
  }),
};
