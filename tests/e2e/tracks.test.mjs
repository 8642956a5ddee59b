/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks: pinned ones stay in sight, colours tell what was chosen, what was not recorded is hatched. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, json, openPage, pass, rest, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

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
const all = (page) =>
  page
    .evaluate(() => ({
      x: 0,
      y: 0,
      width: document.querySelector('.tracks-canvas canvas').width,
      height: document.querySelector('.tracks-canvas canvas').height,
    }))
    .then((box) => colours(page, box));

/* The last thread that has ops. */
async function lastTrack(url) {
  const { tracks } = await json(url, 'api/tracks?run=step_1000');
  return tracks
    .filter(
      (track) => track.kind === 'thread' && track.depth_count > 0 && track.depth_count < 6 && track.slice_count > 10,
    )
    .at(-1);
}

async function oneStep(url) {
  const [step] = (await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows;
  return `${step.start_ps}-${step.start_ps + step.dur_ps}`;
}

const menuItem = async (page, words) => {
  await page.locator('.ruler-left button').click();
  await page.getByRole('menuitemradio', { name: words }).click();
};

/* What a rank of a job recorded: steps, slices that cross, one without an end, a moment, a counter, and
 * requests that overlap; each rank begins later than the one before, and is slower from step 2 on. */
function traceOf(rank) {
  const of = { pid: 7 };
  const begin = 1000 + 300 * rank;
  const slice = (tid, name, start, dur) => ({ ...of, ph: 'X', tid, name, ts: begin + start, dur });
  const requests = [0, 1, 2].flatMap((id) =>
    [
      ['b', 1000],
      ['e', 8000],
    ].map(([ph, at]) => ({
      ...of,
      ph,
      cat: 'request',
      id,
      tid: 5,
      name: `request ${id}`,
      ts: begin + at + 500 * id,
    })),
  );
  const names = ['steps', 'crossing', 'open', 'calls'].map((name, at) => ({
    ...of,
    ph: 'M',
    tid: at + 1,
    name: 'thread_name',
    args: { name },
  }));
  const counter = [
    [0, 3],
    [7000, 17],
  ].map(([at, value]) => ({ ...of, ph: 'C', name: 'queue length', ts: begin + at, args: { value } }));
  return {
    schemaVersion: 1,
    distributedInfo: { backend: 'nccl', rank, world_size: 2 },
    baseTimeNanoseconds: 0,
    traceEvents: [
      ...names,
      slice(1, 'ProfilerStep#1', 0, 4000),
      slice(1, 'ProfilerStep#2', 4000 + 1000 * rank, 4000),
      slice(1, 'ProfilerStep#3', 9000 + 1000 * rank, 4000),
      slice(2, 'first', 1000, 3000),
      slice(2, 'second', 3000, 4000),
      { ...of, ph: 'B', tid: 3, name: 'unfinished', ts: begin + 5000 },
      slice(4, 'call', 1000, 6000),
      { ...of, ph: 'i', s: 't', tid: 4, name: 'moment', ts: begin + 2000 },
      ...counter,
      ...requests,
    ],
  };
}

/* A page over two ranks of a job, every track open. */
async function withJob(browser, body) {
  const folder = mkdtempSync(join(tmpdir(), 'jviewd-tracks-'));
  for (const rank of [0, 1]) writeFileSync(join(folder, `job_rank-${rank}.json`), JSON.stringify(traceOf(rank)));
  const server = await startOwn([folder], ready);
  try {
    /* A rank that is read before the other was seen is a run of its own for a moment. */
    await eventually('the job', async () =>
      (await json(server.url, 'api/runs')).runs.some((run) => run.name === 'job'),
    );
    await ready(server.url);
    const { tracks } = await json(server.url, 'api/tracks?run=job');
    const opened = await openPage(browser, server.url, { viewport: { width: 1600, height: 1200 } });
    await opened.page.goto(`${server.url}?run=job&view=timeline&window=0-15000000000`);
    await settle(opened.page);
    for (
      let closed = opened.page.locator('[role=treeitem][aria-expanded=false]');
      (await closed.count()) > 0;
      await settle(opened.page)
    )
      await closed.first().click();
    await body(opened.page, tracks);
    assert.deepEqual(opened.complaints, [], 'the console');
    await opened.context.close();
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const tests = {
  'counters, moments, lanes, what crosses and what is cut tell what they are; hosts stand side by side': ({
    browser,
  }) =>
    withJob(browser, async (page, tracks) => {
      const area = await page.locator('.tracks-canvas').boundingBox();
      const nameOf = (track, host = 0) =>
        page.locator(`[data-id="${tracks.filter(({ name }) => name === track)[host].id}"]`);
      const tip = async (track, depth, ms, words) => {
        const { y } = await nameOf(track).boundingBox();
        await page.mouse.move(area.x + (area.width * ms) / 15, y + depth * 20 + 10);
        await page.waitForFunction((text) => document.querySelector('.tooltip')?.textContent.includes(text), words);
      };
      await tip('queue length', 0, 3, '3');
      await tip('queue length', 0, 9, '17');
      await tip('crossing', 1, 5, 'overlaps another slice');
      await tip('open', 0, 10, 'its end is not in the file');
      await tip('calls', 1, 2, 'instant');
      for (const id of [0, 1, 2]) await tip('request', id, 5, `request ${id}`);
      await tip('request', 2, 6, 'asynchronous');
      await nameOf('calls').click();
      await settle(page);
      await tip('calls', 0, 4, 'in this pixel');

      await page.evaluate(() => {
        const own = CanvasRenderingContext2D.prototype.fillText;
        globalThis.letters = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          if (this.canvas === document.querySelector('.tracks-canvas canvas')) globalThis.letters.push({ text, x, y });
          own.call(this, text, x, y);
        };
      });
      const begins = () =>
        page.evaluate(() => [
          ...new Map(
            globalThis.letters.filter(({ text }) => text === 'ProfilerStep#2').map(({ x, y }) => [y, x]),
          ).values(),
        ]);
      await page.locator('.ruler-left button').click();
      await page.getByRole('menuitemradio', { name: 'Hosts side by side from the start of step 2' }).click();
      await page.waitForFunction(() => location.search.includes('stack=2'));
      await settle(page);
      const [one, other] = await begins();
      assert.ok(other !== undefined && Math.abs(one - other) <= 1, `step 2 begins at ${one} and ${other}`);
      await page.evaluate(() => (globalThis.letters.length = 0));
      await page.locator('.ruler-left button').click();
      await page.getByRole('menuitemradio', { name: 'Hosts by their clocks' }).click();
      await page.waitForFunction(() => !location.search.includes('stack='));
      await settle(page);
      const apart = await begins();
      assert.ok(Math.abs(apart[1] - apart[0] - (area.width * 1.3) / 15) <= 2, `apart by ${apart[1] - apart[0]}`);
    }),

  'a pinned track stays at the top while the others scroll': scene(
    async (url) => `&pin=${(await lastTrack(url)).id}`,
    async ({ page, url }) => {
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
    },
  ),

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
    const full = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--amount-5').trim(),
    );
    const rgb = [1, 3, 5].map((at) => parseInt(full.slice(at, at + 2), 16)).join(',');
    assert.ok((self[rgb] ?? 0) > 100, `the heaviest name is full: ${self[rgb]} pixels of ${full}`);
    await page.reload();
    await rest(page);
    assert.ok(((await all(page))[rgb] ?? 0) > 100, 'after a reload');
  }),

  'times of day on the ruler are those of the run': scene('&clock=wall', async ({ page, url }) => {
    const run = await json(url, 'api/run?run=step_1000');
    const begin = new Date(Number(BigInt(run.epoch_ns) / 1_000_000n)).toISOString();
    const first = await page.locator('.tick').first().innerText();
    assert.match(first, /^\d\d:\d\d:\d\d/);
    assert.equal(first.slice(0, 5), begin.slice(11, 16), `${first} in a run that begins ${begin}`);
    assert.equal(await page.locator('.ruler-base').innerText(), begin.slice(0, 10));
    await menuItem(page, /from the start/);
    assert.doesNotMatch(await page.locator('.tick').first().innerText(), /:/);
  }),

  'what lies outside of the record is hatched': scene('', async ({ page, url }) => {
    const run = await json(url, 'api/run?run=step_1000');
    const end = Number(run.duration_ps);
    await page.goto(`${url}${QUERY}&window=${end - 1e9}-${end + 1e9}`);
    await settle(page);
    const size = await page.evaluate(() => document.querySelector('.tracks-canvas canvas').width);
    const beyond = await colours(page, { x: Math.round(size * 0.6), y: 30, width: 200, height: 40 });
    const stripe = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--line').trim(),
    );
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

  'letters go with their slice while the window is moved': scene(
    async (url) => `&window=${await oneStep(url)}`,
    async ({ page }) => {
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
      /* What comes into sight shows more of its name. */
      const isSame = (one, other) =>
        one === other || ((one + other).includes('…') && one.slice(0, 3) === other.slice(0, 3));
      let before = null;
      let followed = 0;
      for (let turn = 0; turn < 5; turn++) {
        await page.mouse.wheel(37, 0);
        await settle(page);
        const now = await painted();
        for (const { text, x, y } of before ?? []) {
          if (x < 60 || x > width - 4) continue;
          followed++;
          const beside = now.filter((one) => one.y === y);
          assert.ok(
            beside.some((one) => isSame(one.text, text) && Math.abs(one.x - (x - 37)) <= 1),
            `turn ${turn}: "${text}" at ${x}, ${y}; then ${JSON.stringify(beside)}`,
          );
        }
        before = now;
      }
      assert.ok(followed > 10, `${followed} labels`);
    },
  ),

  'a wheel goes down to picoseconds, and a slice stays where it is': scene(
    async (url) => `&slice=${(await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows[2].id}`,
    async ({ page, url }) => {
      const slice = (await json(url, 'api/slices?run=step_1000&name=train&limit=3')).rows[2];
      await page.goto(`${url}${QUERY}&window=${slice.start_ps - 50}-${slice.start_ps + 50}`);
      await settle(page);
      const edges = async () =>
        page.evaluate(() => {
          const canvas = document.querySelector('.tracks-canvas canvas');
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {
            willReadFrequently: true,
          });
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
          const at = (x, y) => data.slice((y * canvas.width + x) * 4, (y * canvas.width + x) * 4 + 3).join();
          const empty = [1, 3, 5]
            .map((from) =>
              parseInt(
                getComputedStyle(document.documentElement)
                  .getPropertyValue('--bg')
                  .trim()
                  .replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
                  .slice(from, from + 2),
                16,
              ),
            )
            .join();
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
    },
  ),
};
