/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph: relatives of the focus, search, and two hundred thousand nodes. */
import assert from 'node:assert/strict';
import { address, json, openPage, settle, until } from './browser.mjs';

const QUERY = '?run=step_1000&view=flame&by=track';
const LARGE = 'of two hundred thousand nodes each frame paints no more than can be seen';
const ROW = 20;
const SLOW_MS = 300; // of a page on a busy machine, before it does what it put off
const NARROWEST = 0.7; // px a box that is painted
export const alone = [LARGE];

function scene(body, before = async () => undefined) {
  return async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await before(page);
      await page.goto(url + QUERY);
      await settle(page);
      await body({ page, url, box: await page.locator('.flame').boundingBox() });
      assert.deepEqual(complaints, [], 'the console');
      assert.deepEqual(foreign, [], 'requests that leave the origin');
    } finally {
      await context.close();
    }
  };
}

/* Over a tree: the time of the outermost places of a name, and of those that hold it. */
function placesOf(node, name, above = null, found = { total: 0, callers: new Map() }) {
  if (node.name === name) {
    found.total += node.total_ps;
    if (above) found.callers.set(above.name, (found.callers.get(above.name) ?? 0) + node.total_ps);
    return found;
  }
  for (const child of node.children) placesOf(child, name, node, found);
  return found;
}

/* 200,000 nodes: 400 roots, each a comb of 50 levels with ten short teeth a level. */
function largeTree() {
  const leaf = (name, total) => ({ name, total_ps: total, self_ps: total, count: 1, kind: 'compute', children: [] });
  const comb = (root, level, total) => {
    const teeth = Array.from({ length: 9 }, (_, tooth) => leaf(`tooth_${root}_${level}_${tooth}`, 1000));
    const rest = total - 9000;
    const children = level === 50 ? teeth : [comb(root, level + 1, rest), ...teeth];
    return { name: `frame_${root % 40}_${level}`, total_ps: total, self_ps: 0, count: 1, kind: 'host', children };
  };
  const children = Array.from({ length: 400 }, (_, root) => comb(root, 1, 1e6 + root));
  const total = children.reduce((sum, child) => sum + child.total_ps, 0);
  return {
    run: {},
    by: 'track',
    of: 'host',
    root: { name: 'large', total_ps: total, self_ps: 0, count: 1, children },
  };
}

/* Runs in the page: what each frame painted, and how long it took, while hovering, scrolling and zooming. */
function drive(place) {
  return new Promise((resolve) => {
    const flame = document.querySelector('.flame');
    const times = [];
    const step = () => {
      times.push({ script: Number(flame.dataset.script), painted: Number(flame.dataset.painted) });
      if (times.length > 150) return resolve(times.slice(5));
      const options = {
        bubbles: true,
        clientX: place.x + ((times.length * 37) % place.width),
        clientY: place.y + 30 + ((times.length * 13) % 300),
      };
      flame.dispatchEvent(new PointerEvent('pointermove', options));
      if (times.length % 25 === 0)
        flame.dispatchEvent(new MouseEvent('click', { ...options, clientY: place.y + 10 + 20 * (times.length / 25) }));
      if (times.length % 10 === 0) flame.scrollTop = (flame.scrollTop + 60) % 400;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1];

export const tests = {
  'callers and callees of the focus add up over all places': scene(async ({ page, url, box }) => {
    const { root } = await json(url, 'api/flame?run=step_1000&by=track&step=counted');
    await page.mouse.click(box.x + 40, box.y + 70);
    await page.locator('.relatives').waitFor();
    const name = await page.locator('.relatives strong').innerText();
    const found = placesOf(root, name);
    const callers = await page.getByRole('grid', { name: 'above it' }).locator('.table-row').allInnerTexts();
    assert.deepEqual(callers.map((row) => row.split('\n')[0]).sort(), [...found.callers.keys()].sort());
    const [head] = (await page.locator('.relatives .dots').innerText()).replaceAll('\u202f', ' ').split('self');
    const part = found.total / root.total_ps;
    assert.match(head, new RegExp(`${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} % of all`));
    await page.getByRole('grid', { name: 'above it' }).locator('.table-row').first().click();
    await until(
      page,
      'the caller in focus',
      async (now) =>
        now.key !== undefined && (await page.locator('.relatives strong').innerText()) === callers[0].split('\n')[0],
    );
  }),

  'every name stands once below the graph, the heaviest first; a click shows who is above and below': scene(
    async ({ page, url }) => {
      const { root } = await json(url, 'api/flame?run=step_1000&by=track&step=counted');
      const own = new Map();
      const add = (node) => (own.set(node.name, (own.get(node.name) ?? 0) + node.self_ps), node.children.forEach(add));
      root.children.forEach(add);
      const heaviest = [...own].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0][0];
      const rows = page.getByRole('grid', { name: 'Names' }).locator('.table-row');
      await rows.first().waitFor();
      assert.equal((await rows.first().innerText()).split('\n')[0], heaviest);
      assert.equal(
        (await page.locator('.relatives strong').innerText()).replaceAll('\u202f', ' '),
        `${own.size} names`,
      );
      await page.getByLabel('Search the flame graph').fill(heaviest);
      await page.getByText('1 found').first().waitFor();
      await rows.first().click();
      await page.getByRole('grid', { name: 'above it' }).waitFor();
      assert.equal(await page.locator('.relatives strong').innerText(), heaviest);
      const [graph, table] = [
        await page.locator('.flame').boundingBox(),
        await page.locator('.relatives').boundingBox(),
      ];
      assert.ok(table.y - (graph.y + graph.height) < 24, 'nothing blank between graph and tables');
      assert.ok(table.height + graph.height > 480, 'and they fill the page');
    },
  ),

  'a step, a range and a run are held against another in place': scene(async ({ page, url }) => {
    const { rows } = await json(url, 'api/steps?run=step_1000');
    const step = rows[2].step;
    const [start, end] = [rows[2].start_ps, rows[2].start_ps + 1e9];
    const asks = [
      [`&step=${step}`, `step ${step - 1}`, `step_1000@step=${step - 1}`, `step_1000@step=${step}`],
      [
        `&start_ps=${start}&end_ps=${end}`,
        'as much time before it',
        `step_1000@${start - 1e9}-${start}`,
        `step_1000@${start}-${end}`,
      ],
      ['', 'step_500', 'step_500', 'step_1000'],
    ];
    for (const [narrowed, words, a, b] of asks) {
      await page.goto(`${url}?run=step_1000&view=flame${narrowed}`);
      await settle(page);
      await page.getByRole('combobox', { name: 'compare with' }).selectOption({ label: words });
      await until(page, words, (now) => now.view === 'flame' && now.against === a);
      await page.locator('.icicle').nth(1).waitFor();
      const diff = await json(url, `api/diff?a=${a}&b=${b}&by=scope`);
      const said = (await page.locator('.sentence').innerText()).replaceAll(/\s/g, '');
      assert.equal(said, diff.sentence.replaceAll(/\s/g, ''), words);
      assert.ok((await page.locator('.sentence').boundingBox()).y < 96, 'the answer stands first');
    }
    await page.getByRole('combobox', { name: 'compare with' }).selectOption('');
    await page.locator('.flame').waitFor();
  }),

  'weight, order and direction stand in the address': scene(async ({ page, url }) => {
    await page.getByLabel('weight').selectOption('count');
    await until(page, 'the weight', (now) => now.weight === 'count');
    await page.getByLabel('order').selectOption('time');
    await page.getByLabel('root').selectOption('below');
    await until(page, 'order and direction', (now) => now.order === 'time' && now.roots === 'below');
    await page.goto(page.url());
    await settle(page);
    assert.equal(await page.getByLabel('weight').inputValue(), 'count');
    assert.equal(await page.getByLabel('order').inputValue(), 'time');
    const { root } = await json(url, 'api/flame?run=step_1000&by=track&weight=count&order=time');
    const first = root.children.map((child) => child.first_ps);
    assert.deepEqual(
      first,
      [...first].sort((a, b) => a - b),
      'children in time order',
    );
    await page.keyboard.press('2');
    await until(page, 'the heaviest left by its key', (now) => now.order === undefined);
    await page.keyboard.press('1');
    await until(page, 'in order of time by its key', (now) => now.order === 'time');
    await page.getByLabel('Search the flame graph').fill('fusion');
    // `find` is a word of the timeline's.
    await until(page, 'what is searched for', (now) => now.search === 'fusion' && now.find === undefined);
    /* The names come after the graph; however long they take, the key that asks for them is not lost. */
    await page.addInitScript((ms) => {
      const soon = setTimeout;
      globalThis.setTimeout = (call, wait, ...rest) => soon(call, (wait ?? 0) + ms, ...rest);
    }, SLOW_MS);
    await page.goto(page.url());
    await page
      .getByText(/^\d+ found/)
      .first()
      .waitFor();
    await page.keyboard.press('3');
    await until(page, 'the names in focus', () =>
      page.evaluate(() => document.activeElement.closest('.relatives .table-row') !== null),
    );
    await page.getByLabel('Search the flame graph').fill('');
    await page.locator('.flame').focus();
    await page.keyboard.press('ArrowUp'); // away from the root
    await until(page, 'the child in focus', (now) => now.key !== undefined);
    await page.locator('.relatives').waitFor();
  }),

  'a call opens the lines of its source and leads to the editor': scene(
    async ({ page, box }) => {
      await page.mouse.click(box.x + 40, box.y + 30);
      await page.getByRole('button', { name: 'layers.py:41' }).click();
      await page.locator('.source-lines').waitFor();
      assert.equal(await page.locator('.source-lines li[aria-current]').innerText(), '<b>bold</b> = 41');
      assert.equal(await page.locator('.source-lines b').count(), 0, 'text, not markup');
      assert.equal(
        await page.getByRole('link', { name: 'edit' }).getAttribute('href'),
        'vscode://file/srv/project/layers.py:41',
        'as it lies here',
      );
    },
    async (page) => {
      await page.addInitScript(() =>
        localStorage.setItem('jviewd', JSON.stringify({ editor: 'vscode://file/{file}:{line}' })),
      );
      const leaf = { name: 'dot.1', kind: 'compute', total_ps: 1000, self_ps: 1000, count: 1, children: [] };
      const call = {
        name: 'mlp (layers.py:41)',
        file: '/home/me/layers.py',
        line: 41,
        kind: 'other',
        total_ps: 1000,
        self_ps: 0,
        count: 1,
        children: [leaf],
      };
      const root = { name: 'step_1000', kind: 'other', total_ps: 1000, self_ps: 0, count: 1, children: [call] };
      await page.route('**/api/flame**', (route) =>
        route.fulfill({ json: { run: {}, by: 'track', of: 'device', unit: 'ps', root, notes: [] } }),
      );
      await page.route('**/api/source**', (route) =>
        route.fulfill({
          json: {
            file: '/home/me/layers.py',
            root: '/srv/project',
            path: 'layers.py',
            modified_ns: 1,
            line: 41,
            first_line: 40,
            lines: ['def mlp(x):', '<b>bold</b> = 41', ''],
            line_count: 42,
          },
        }),
      );
    },
  ),

  'arrows walk, Enter zooms, Esc goes up': scene(async ({ page }) => {
    await page.locator('.flame').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await until(page, 'two levels down', (now) => now.key?.split(';').length === 2);
    const path = address(page).key;
    await page.keyboard.press('Enter');
    await until(page, 'zoomed', (now) => now.zoom === path);
    await page.keyboard.press('Escape');
    await until(page, 'one up', (now) => now.zoom === path.split(';')[0]);
  }),

  [LARGE]: scene(
    async ({ page, box }) => {
      await page.locator('.flame[data-painted]').waitFor();
      const frames = await page.evaluate(drive, box);
      const script = frames.map((frame) => frame.script);
      const most = Math.max(...frames.map((frame) => frame.painted));
      const [p50, p95] = [0.5, 0.95].map((part) => quantile(script, part));
      console.log(`        200 000 nodes: script p50 ${p50} ms, p95 ${p95} ms, ${most} boxes at most`);
      const room = (box.width / NARROWEST) * (box.height / ROW + 1);
      assert.ok(most > 400 && most < room, `${most} boxes in a frame; ${room} can be seen`);
    },
    (page) => page.route('**/api/flame**', (route) => route.fulfill({ json: largeTree() })),
  ),
};
