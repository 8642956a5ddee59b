/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline as people expect it: what the pointer tells is of the window that is seen, steps are chosen
 * exactly, areas add up to what the API says, and whoever comes from Perfetto finds its keys. */
import assert from 'node:assert/strict';
import { address, eventually, json, openPage, pass, rest, settle, until, windowOf } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';
const UNITS = { ps: 1, ns: 1e3, µs: 1e6, ms: 1e9, s: 1e12 };

function scene(body, query = '', run = QUERY) {
  return async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.goto(url + run + query);
      await settle(page);
      const box = await page.locator('.tracks-canvas').first().boundingBox();
      await body({ page, box, url, context });
      assert.deepEqual(complaints, [], 'the console');
      assert.deepEqual(foreign, [], 'requests that leave the origin');
    } finally {
      await context.close();
    }
  };
}

/* "66.93 ms · step 3 + 4.2 ms" as picoseconds from the start of the run. */
function cursorPs(text) {
  const match = /^(−?)([\d.]+) (ps|ns|µs|ms|s)\b/.exec(
    text.replace(/(?<=[\d.])\u202f(?=\d)/g, '').replaceAll('\u202f', ' '),
  );
  assert.ok(match, text);
  return (match[1] ? -1 : 1) * Number(match[2]) * UNITS[match[3]];
}

async function steps(url) {
  return (await json(url, 'api/steps?run=step_1000')).rows;
}

/* Where a time is on the screen. */
const xOf = (page, box, ps) => box.x + ((ps - windowOf(page).start) / windowOf(page).span) * box.width;

async function drag(page, from, to, key = null) {
  await page.mouse.move(from.x, from.y);
  if (key) await page.keyboard.down(key);
  await page.mouse.down();
  for (let step = 1; step <= 6; step++)
    await page.mouse.move(from.x + ((to.x - from.x) * step) / 6, from.y + ((to.y - from.y) * step) / 6);
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

export const tests = {
  'the time at the pointer is that of the window, after each key and the wheel': scene(async ({ page, box, url }) => {
    const [first] = await steps(url);
    await page.goto(`${url}${QUERY}&window=${first.start_ps}-${first.start_ps + first.dur_ps}`);
    await settle(page);
    await page.mouse.move(box.x + 300, box.y + 32);
    const told = async () => cursorPs(await page.locator('.ruler-cursor').innerText());
    const expected = () => windowOf(page).start + (300 / box.width) * windowOf(page).span;
    const isRight = async (what) => {
      await rest(page);
      const [now, wanted] = [await told(), expected()];
      assert.ok(Math.abs(now - wanted) < windowOf(page).span / 100, `${what}: ${now} where ${wanted} is`);
    };
    for (const key of ['w', 'd', 'j', 's', 'a', '0']) {
      await page.keyboard.press(key);
      await isRight(key);
    }
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await isRight('wheel');
  }),

  'the tooltip goes when the window moves its slice away': scene(async ({ page, box, url }) => {
    const [first] = await steps(url);
    await page.goto(`${url}${QUERY}&window=${first.start_ps}-${first.start_ps + first.dur_ps}`);
    await settle(page);
    await page.mouse.move(box.x + 6, box.y + 32); // beside the handle that widens the names
    await page.waitForFunction(() => document.querySelector('.tooltip')?.textContent?.startsWith('train'));
    await page.keyboard.press('0'); // the margin before the run is there now
    await page.waitForFunction(() => document.querySelector('.tooltip') === null);
    await page.keyboard.press('0');
    await page.waitForFunction(() => document.querySelector('.tooltip')?.textContent?.startsWith('train'));
  }),

  'Esc closes help and palette first, then lets the slice go': scene(async ({ page, box }) => {
    await page.mouse.click(box.x + box.width / 2, box.y + 32);
    await until(page, 'a slice', (now) => now.slice !== undefined);
    for (const [key, dialog] of [
      ['?', 'dialog.help[open]'],
      ['Control+k', 'dialog.palette[open]'],
    ]) {
      await page.keyboard.press(key);
      await page.locator(dialog).waitFor();
      await page.keyboard.press('Escape');
      await page.waitForFunction((one) => document.querySelector(one) === null, dialog);
      await rest(page);
      assert.ok(address(page).slice !== undefined, `the slice stays behind ${key}`);
    }
    await page.keyboard.press('Escape');
    await until(page, 'no slice', (now) => now.slice === undefined);
  }),

  'Esc lets a range go while it is dragged': scene(async ({ page, box }) => {
    const ruler = await page.locator('.ruler').boundingBox();
    await page.mouse.move(box.x + 200, ruler.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, ruler.y + 10, { steps: 4 });
    await page.keyboard.press('Escape');
    await page.mouse.move(box.x + 500, ruler.y + 10, { steps: 4 });
    await page.mouse.up();
    await rest(page);
    assert.equal(address(page).start_ps, undefined);
  }),

  'a click on a step chooses exactly it, with shift all up to it': scene(async ({ page, box, url }) => {
    await page.keyboard.press('0');
    await rest(page);
    const row = await page.locator('.timeline-steps .canvas-box').boundingBox();
    const rows = await steps(url);
    const clickOn = (step, options = {}) =>
      page.mouse.click(xOf(page, box, step.start_ps + step.dur_ps / 2), row.y + 10, options);
    for (const step of rows) {
      await clickOn(step);
      await until(
        page,
        `step ${step.step}`,
        (now) => now.start_ps === String(step.start_ps) && now.end_ps === String(step.start_ps + step.dur_ps),
      );
    }
    await clickOn(rows[1]);
    await until(page, 'the second', (now) => now.start_ps === String(rows[1].start_ps));
    await page.keyboard.down('Shift');
    await clickOn(rows[3]);
    await page.keyboard.up('Shift');
    const end = String(rows[3].start_ps + rows[3].dur_ps);
    await until(page, 'three of them', (now) => now.start_ps === String(rows[1].start_ps) && now.end_ps === end);
  }),

  'the ruler tells times of the run, each with its unit; a window of 16 ms reads as such': scene(async ({ page }) => {
    const words = async (where) =>
      (await page.locator(where).allInnerTexts()).map((one) => one.replaceAll('\u202f', ' '));
    assert.deepEqual((await words('.words span'))[0], '60.0 ms … 76.0 ms');
    for (const tick of (await words('.tick')).filter(Boolean)) assert.match(tick, /^[67]\d(\.\d)? ms$/);
    const map = await page.locator('.minimap').boundingBox();
    const window = await page.locator('.minimap-window').boundingBox();
    assert.ok(window.width >= 8 && window.x > map.x && window.x + window.width < map.x + map.width);
  }, '&window=60000000000-76000000000'),

  'the first visit offers the gestures of Perfetto, and keeps what is chosen': scene(async ({ page, box }) => {
    const offer = page.locator('.gesture-offer');
    await offer.getByRole('button', { name: /as in Perfetto/ }).click();
    assert.equal(await offer.count(), 0);
    await page.reload();
    await settle(page);
    assert.equal(await offer.count(), 0, 'it is asked once');
    const now = await page.locator('.tracks-canvas').boundingBox();
    await drag(page, { x: box.x + 300, y: now.y + 32 }, { x: box.x + 500, y: now.y + 60 });
    await until(page, 'an area', (at) => at.start_ps !== undefined && at.track !== undefined);
    assert.equal(address(page).window, undefined, 'the window stays');
    await page.keyboard.press('Escape');
    await until(page, 'no area', (at) => at.start_ps === undefined);
    await drag(page, { x: box.x + 300, y: now.y + 32 }, { x: box.x + 400, y: now.y + 32 }, 'Shift');
    await until(page, 'moved', (at) => at.window !== undefined && at.start_ps === undefined);
  }),

  'keys of Perfetto: Q, ctrl shift P and the colon': scene(async ({ page }) => {
    const height = () => page.locator('.timeline-lower').evaluate((one) => one.offsetHeight);
    const before = await height();
    await page.keyboard.press('q');
    await eventually('closed', async () => (await height()) === 32 && before > 100);
    await page.keyboard.press('q');
    await eventually('open again', async () => (await height()) === before);
    await page.keyboard.press('Control+Shift+P');
    await page.locator('dialog.palette[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press(':');
    await until(page, 'the queries', (now) => now.view === 'sql');
  }),

  'what begins in the slice below the pointer lights up with it': scene(async ({ page, box, url }) => {
    const { rows } = await json(url, 'api/flows?run=step_1000&limit=400');
    const flow = rows.find(
      (one) => one.from.slice !== null && one.to.slice !== null && one.from.slice !== one.to.slice,
    );
    const from = await json(url, `api/slice?run=step_1000&id=${flow.from.slice}`);
    await page.goto(`${url}${QUERY}&window=${from.start_ps - from.dur_ps}-${from.start_ps + 2 * from.dur_ps}`);
    await settle(page);
    const name = await page.locator(`[data-id="${from.track}"]`).boundingBox();
    const canvas = await page.locator('.tracks-canvas').boundingBox();
    await page.mouse.move(canvas.x + canvas.width / 2, name.y + from.depth * 20 + 9);
    await page.waitForFunction(() => Number(document.querySelector('.tracks-canvas').dataset.mates) > 0);
    await page.mouse.move(5, box.y);
    await page.waitForFunction(() => document.querySelector('.tracks-canvas').dataset.mates === '0');
  }),

  'the table of an area is what the API says of the same window and tracks': scene(async ({ page, box, url }) => {
    const names = await page
      .getByRole('treeitem')
      .evaluateAll((all) =>
        all.map((one) => ({ id: one.dataset.id, top: one.getBoundingClientRect().top, depth: one.ariaLevel })),
      );
    const [, python, worker] = names;
    await drag(page, { x: box.x + 250, y: python.top + 12 }, { x: box.x + 700, y: worker.top + 12 }, 'Shift');
    await until(page, 'an area', (now) => now.track !== undefined && now.start_ps !== undefined);
    const { track, start_ps, end_ps } = address(page);
    assert.deepEqual(track.split(','), [python.id, worker.id], 'the rows of an open group, not all below its head');
    const select = page.locator('.lower .toolbar select');
    const sums = new Map();
    for (const by of ['name', 'kind', 'track']) {
      await select.selectOption(by);
      await settle(page);
      const asked = `run=step_1000&by=${by}&track=${track}&start_ps=${start_ps}&end_ps=${end_ps}&limit=100`;
      const top = await json(url, `api/top?${asked}`);
      sums.set(by, top.total_self_ps);
      const told = () => page.locator('.lower .table-row').evaluateAll((all) => all.map((one) => one.textContent));
      /* Until its answer is there the table is that of the window before. */
      await eventually(`by ${by}: ${JSON.stringify(top.rows.slice(0, 5))}`, async () => {
        const texts = (await told()).map((one) => one.replaceAll('\u202f', ''));
        return top.rows
          .slice(0, 5)
          .every(
            (row, at) =>
              texts[at]?.includes(row.name.slice(0, 6)) && texts[at].includes(`${(row.share * 100).toFixed(1)}%`),
          );
      });
    }
    assert.deepEqual([...new Set(sums.values())].length, 1, `one sum however it is divided: ${[...sums]}`);
  }),

  'rows of a query are a track; a click on one focuses its slice': scene(async ({ page, box, url }) => {
    const local = page.locator('[data-id="sql"]');
    await local.waitFor();
    await settle(page);
    const first = page.getByRole('treeitem').first();
    assert.equal(await first.getAttribute('data-id'), 'sql', 'above all others');
    const longest = (await json(url, 'api/slices?run=step_1000&sort=-dur_ps&limit=400')).rows.find(
      (row) => row.kind === 'compute',
    );
    await page.goto(
      `${page.url()}&window=${longest.start_ps - longest.dur_ps}-${longest.start_ps + 2 * longest.dur_ps}`,
    );
    await local.waitFor();
    await settle(page);
    const row = await local.boundingBox();
    await page.mouse.click(box.x + box.width / 2, row.y + 9);
    await until(page, 'its slice', (now) => now.slice === longest.id);
  }, "&debug=select+id,+name,+kind,+start_ps,+dur_ps+from+slices+where+kind='compute'+order+by+dur_ps+desc+limit+1"),

  'of two runs one is moved against the other': scene(
    async ({ page }) => {
      const canvases = page.locator('.tracks-canvas');
      const shots = async () => [await canvases.nth(0).screenshot(), await canvases.nth(1).screenshot()];
      await rest(page);
      const before = await shots();
      await page.getByLabel(/B later by/).fill('7.5');
      await page.keyboard.press('Tab');
      await until(page, 'the offset', (now) => now.offset === '7500000000');
      await page.mouse.move(5, 5);
      await rest(page);
      await pass(page, 100);
      const after = await shots();
      assert.ok(before[0].equals(after[0]), 'A stays');
      assert.ok(!before[1].equals(after[1]), 'B moves');
      await page.getByRole('button', { name: '0', exact: true }).click();
      await until(page, 'no offset', (now) => now.offset === undefined);
    },
    '',
    '?view=compare&a=step_500&b=step_1000&align=first',
  ),
};
