/* Tracks: pinned ones stay in sight, colours tell what was chosen, what was not recorded is hatched. */
import assert from 'node:assert/strict';
import { json, openPage, pass, rest, settle } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';

function scene(more, body) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url);
    try {
      await opened.page.goto(url + QUERY + (typeof more === 'function' ? await more(url) : more));
      await settle(opened.page);
      await body({ ...opened, url });
      assert.deepEqual(opened.complaints, [], 'the console');
    } finally {
      await opened.context.close();
    }
  };
}

/* Pixels of the base canvas, as "r,g,b" -> how many, in a box of it. */
const colours = (page, box) =>
  page.evaluate(({ x, y, width, height }) => {
    const canvas = document.querySelector('.tracks-canvas canvas');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(x, y, width, height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }, box);
const all = (page) => page.evaluate(() => ({ x: 0, y: 0, width: document.querySelector('.tracks-canvas canvas').width, height: document.querySelector('.tracks-canvas canvas').height })).then((box) => colours(page, box));

/* The last thread that has ops. */
async function lastTrack(url) {
  const { tracks } = await json(url, 'api/tracks?run=step_1000');
  return tracks.filter((track) => track.kind === 'thread' && track.depth_count > 0 && track.depth_count < 6 && track.slice_count > 10).at(-1);
}

async function oneStep(url) {
  const [step] = (await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows;
  return `${step.start_ps}-${step.start_ps + step.dur_ps}`;
}

const menuItem = async (page, words) => {
  await page.locator('.ruler-left button').click();
  await page.getByRole('menuitemradio', { name: words }).click();
};

export const tests = {
  'a pinned track stays at the top while the others scroll': scene(async (url) => `&pin=${(await lastTrack(url)).id}`, async ({ page, url }) => {
    const { id, depth_count } = await lastTrack(url);
    await page.setViewportSize({ width: 1280, height: 560 });
    await settle(page);
    const name = page.locator(`[role=treeitem][data-id="${id}"]`);
    const top = (await page.locator('.tracks').boundingBox()).y;
    const box = { x: 0, y: 0, width: 900, height: depth_count * 20 };
    assert.ok(Math.abs((await name.boundingBox()).y - top) < 2);
    const before = await colours(page, box);
    await page.locator('.tracks').evaluate((element) => (element.scrollTop = 80));
    await rest(page);
    assert.ok(await page.locator('.tracks').evaluate((element) => element.scrollTop > 20), 'it scrolls');
    assert.ok(Math.abs((await name.boundingBox()).y - top) < 2, 'its name stays');
    assert.deepEqual(await colours(page, box), before, 'its slices stay');
    const area = await page.locator('.tracks-canvas').boundingBox();
    await page.mouse.move(area.x + 5, area.y + area.height - 5);
    const slices = (await json(url, `api/slices?run=step_1000&track=${id}&sort=-dur_ps&limit=1`)).rows;
    await page.goto(`${page.url()}&slice=${slices[0].id}`);
    await settle(page);
    assert.equal(await page.locator('.slice-name').innerText(), slices[0].name);
  }),

  'colours tell kind, name or self time, and the address keeps which': scene('', async ({ page }) => {
    const kind = Object.keys(await all(page));
    await menuItem(page, /the name$/);
    await settle(page);
    const name = Object.keys(await all(page));
    assert.match(page.url(), /colour=name/);
    assert.ok(name.filter((one) => !kind.includes(one)).length > 2, 'other colours than those of kinds');
    await page.locator('.tracks-canvas').press('Shift+C');
    await page.waitForFunction(() => location.search.includes('colour=self'));
    await rest(page);
    const self = await all(page);
    const full = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--amount-5').trim());
    const rgb = [1, 3, 5].map((at) => parseInt(full.slice(at, at + 2), 16)).join(',');
    assert.ok((self[rgb] ?? 0) > 100, `the heaviest name is full: ${self[rgb]} pixels of ${full}`);
    await page.reload();
    await rest(page);
    assert.ok(((await all(page))[rgb] ?? 0) > 100, 'after a reload');
  }),

  'times of day on the ruler are those of the run': scene('&clock=wall', async ({ page, url }) => {
    const run = await json(url, 'api/run?run=step_1000');
    const begin = new Date(Number(BigInt(run.epoch_ns) / 1_000_000n)).toISOString();
    const base = await page.locator('.ruler-base').innerText();
    assert.match(base, /^\d\d:\d\d:\d\d/);
    assert.equal(base.slice(0, 5), begin.slice(11, 16), `${base} in a run that begins ${begin}`);
    await menuItem(page, /from the begin/);
    assert.doesNotMatch(await page.locator('.ruler-base').innerText(), /:/);
  }),

  'what lies outside of the record is hatched': scene('', async ({ page, url }) => {
    const run = await json(url, 'api/run?run=step_1000');
    const end = Number(run.duration_ps);
    await page.goto(`${url}${QUERY}&window=${end - 1e9}-${end + 1e9}`);
    await settle(page);
    const size = await page.evaluate(() => document.querySelector('.tracks-canvas canvas').width);
    const beyond = await colours(page, { x: Math.round(size * 0.6), y: 30, width: 200, height: 40 });
    const stripe = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--line').trim());
    const rgb = [1, 3, 5].map((at) => parseInt(stripe.slice(at, at + 2), 16)).join(',');
    assert.ok((beyond[rgb] ?? 0) > 200, JSON.stringify(beyond));
  }),

  'tracks are filtered by name; those above stay': scene('', async ({ page }) => {
    const before = await page.getByRole('treeitem').count();
    await page.getByRole('searchbox', { name: 'Filter tracks by name' }).fill('python');
    await page.waitForFunction((count) => document.querySelectorAll('[role=treeitem]').length < count, before);
    const names = await page.getByRole('treeitem').evaluateAll((all) => all.map((item) => item.innerText.trim()));
    assert.ok(names.includes('python') && names.length === 2, names.join());
    assert.match(page.url(), /lanes=python/);
    await page.reload();
    await settle(page);
    assert.equal(await page.getByRole('treeitem').count(), 2);
  }),

  'letters go with their slice: none changes while the window is moved': scene(async (url) => `&window=${await oneStep(url)}`, async ({ page }) => {
    const box = await page.locator('.tracks-canvas').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.evaluate(() => {
      const own = CanvasRenderingContext2D.prototype.fillText;
      globalThis.letters = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (this.canvas === document.querySelector('.tracks-canvas canvas')) globalThis.letters.push({ text, x, y });
        own.call(this, text, x, y);
      };
    });
    const painted = () => page.evaluate(() => globalThis.letters.splice(0));
    const width = await page.evaluate(() => document.querySelector('.tracks-canvas canvas').width);
    let before = null;
    let followed = 0;
    for (let turn = 0; turn < 5; turn++) {
      await page.mouse.wheel(37, 0);
      await settle(page);
      const now = await painted();
      for (const { text, x, y } of before ?? []) {
        if (x < 60 || x > width - 4) continue;
        followed++;
        assert.ok(now.some((one) => one.text === text && one.y === y && Math.abs(one.x - (x - 37)) <= 1), `turn ${turn}: "${text}" at ${x}, ${y}; then ${JSON.stringify(now.filter((one) => one.y === y))}`);
      }
      before = now;
    }
    assert.ok(followed > 10, `${followed} labels`);
  }),

  'a wheel goes down to picoseconds, and a slice stays where it is': scene(async (url) => `&slice=${(await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows[2].id}`, async ({ page, url }) => {
    const slice = (await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows[2];
    await page.goto(`${url}${QUERY}&window=${slice.start_ps - 50}-${slice.start_ps + 50}`);
    await settle(page);
    const edges = async () =>
      page.evaluate(() => {
        const canvas = document.querySelector('.tracks-canvas canvas');
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        const at = (x, y) => data.slice((y * canvas.width + x) * 4, (y * canvas.width + x) * 4 + 3).join();
        const empty = [1, 3, 5].map((from) => parseInt(getComputedStyle(document.documentElement).getPropertyValue('--bg').trim().replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3').slice(from, from + 2), 16)).join();
        for (let y = 0; y < canvas.height; y += 5) {
          if (at(200, y) !== empty || at(900, y) === empty) continue;
          for (let x = 200; ; x++) if (at(x, y) !== empty) return x;
        }
        return null;
      });
    const width = await page.evaluate(() => document.querySelector('.tracks-canvas canvas').width);
    const first = await edges();
    assert.ok(first !== null && Math.abs(first - width / 2) <= 2, `the slice begins at ${first} of ${width}`);
    const box = await page.locator('.tracks-canvas').boundingBox();
    await page.mouse.move(box.x + first, box.y + 60);
    await page.keyboard.down('Control');
    for (let turn = 0; turn < 6; turn++) {
      await page.mouse.wheel(0, turn % 2 === 0 ? -120 : 120);
      await pass(page, 60);
      await settle(page);
      const now = await edges();
      assert.ok(Math.abs(now - first) <= 1, `turn ${turn}: ${now}, first ${first}`);
    }
    await page.keyboard.up('Control');
  }),
};
