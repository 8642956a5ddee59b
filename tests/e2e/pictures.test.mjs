/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: the graph of HLO, the tree of ops, the plan of a module's memory, callers and callees.
 * What they show is what the server told; a click leads to it; keys reach all. */
import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { address, changeAnswers, json, openPage, settle, until } from './browser.mjs';

const RUN = 'step_1000';
const MODULE = 'jit_train_step';

function scene(query, body, options = {}) {
  return async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url, options);
    try {
      await page.goto(url + query);
      await settle(page);
      await body({ page, url });
      assert.deepEqual(complaints, [], 'the console');
      assert.deepEqual(foreign, [], 'requests that leave the origin');
    } finally {
      await context.close();
    }
  };
}

const plain = (text) => text.replaceAll('\u202f', ' ');
const words = async (locator) => plain(await locator.innerText());
const graph = (url, query) =>
  json(url, `api/hlo?run=${RUN}&module=${MODULE}&view=graph&${query}`).then((reply) => reply.graph);
const drawn = async (page) => {
  await page.locator('.hlo-picture[data-painted]').waitFor();
  return page.locator('.hlo-picture');
};
const focusWords = (page) => page.locator('#hlo-picture-focus').textContent().then(plain);

export const tests = {
  'the graph shows what is around an instruction, walks along operands and opens a fusion': scene(
    `?run=${RUN}&view=hlo&module=${MODULE}&name=dot.38`,
    async ({ page, url }) => {
      await page.getByRole('link', { name: 'graph', exact: true }).click();
      const picture = await drawn(page);
      const { nodes, edges } = await graph(url, 'instruction=dot.38');
      await page.locator('.hlo-graph-about').getByText(`${nodes.length} boxes`).waitFor();
      const given = edges.filter((edge) => edge.to === 0).map((edge) => nodes[edge.from]);
      const taken = edges.filter((edge) => edge.from === 0).map((edge) => nodes[edge.to]);
      assert.match(
        await focusWords(page),
        new RegExp(`^dot\\.38, dot .*, ${given.length} operands, ${taken.length} user$`),
      );
      await picture.focus();
      await page.keyboard.press('ArrowDown');
      await until(page, 'the user in focus', (now) => now.name === taken[0].name && now.around === 'dot.38');
      assert.ok((await focusWords(page)).startsWith(taken[0].name));
      await page.locator('.hlo-side').getByText(taken[0].name).first().waitFor(); // told at the side as well
      await page.keyboard.press('Space');
      await until(page, 'the fusion open', (now) => now.inside === taken[0].calls[0]);
      const inside = await graph(url, `instruction=dot.38&inside=${taken[0].calls[0]}`);
      assert.ok(inside.nodes.length > nodes.length);
      await page.locator('.hlo-graph-about').getByText(`${inside.nodes.length} boxes`).waitFor();
      await page.locator('.hlo-picture').focus();
      await page.keyboard.press('Enter');
      await until(page, 'the user in the middle', (now) => now.around === taken[0].name && now.inside === undefined);
      await page.goBack();
      await until(page, 'back around the dot', (now) => now.around === 'dot.38');
      await assertAccessible(page);
    },
  ),

  'the graph of a whole computation: pointer, search, folded scopes, more than fits': scene(
    `?run=${RUN}&view=hlo&module=${MODULE}&as=graph&computation=main.21`,
    async ({ page, url }) => {
      const picture = await drawn(page);
      const { nodes } = await graph(url, 'limit=10000');
      await page.locator('.hlo-graph-about').getByText(`${nodes.length} boxes`).waitFor();
      const scaleOf = () => picture.getAttribute('data-scale').then(Number);
      const first = await scaleOf();
      await picture.hover();
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -200);
      await page.keyboard.up('Control');
      await until(page, 'nearer', async () => (await scaleOf()) > first);
      await page.getByRole('button', { name: 'all', exact: true }).click();
      await until(page, 'all of it', async () => (await scaleOf()) < first);
      await until(
        page,
        'every box painted',
        async () => Number(await picture.getAttribute('data-painted')) === nodes.length,
      );
      await page.getByLabel('Search instructions').fill('tanh');
      const found = nodes.filter((node) =>
        [node.name, node.opcode, node.scope, node.source].some((text) => text?.toLowerCase().includes('tanh')),
      );
      await page.getByText(`${found.length} found`).first().waitFor();
      await page.getByLabel('Search instructions').fill('');
      await page.getByRole('combobox', { name: 'scopes' }).selectOption('1');
      await until(page, 'folded', (now) => now.depth === '1');
      await page
        .locator('.hlo-graph-about')
        .getByText(/^\d boxes/)
        .waitFor(); // forward and backward, optimiser and what is of neither
      const box = await picture.boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      /* More than is laid out is said, with the way on. */
      await page.route('**/api/hlo?**view=graph**', async (route) => {
        const reply = await (await route.fetch()).json();
        reply.graph.nodes = [];
        reply.graph.edges = [];
        reply.graph.computations = [];
        reply.graph.left_out = 12_345;
        await route.fulfill({ json: reply });
      });
      await page.goto(`${url}?run=${RUN}&view=hlo&module=${MODULE}&as=graph&computation=main.21`);
      assert.match(
        await words(page.locator('.hlo-graph-page .state:not(.waiting)')),
        /12 345 instructions; a graph shows up to 2 000/,
      );
      await page.getByRole('link', { name: 'the text' }).click();
      await page.locator('.hlo-line').first().waitFor();
    },
  ),

  'the tree of ops: levels sum, the table is beside it, keys open and close, an op leads to its slices': scene(
    `?run=${RUN}&view=ops`,
    async ({ page, url }) => {
      const asked = page.waitForRequest((one) => one.url().includes('api/op_tree'));
      await page.getByRole('link', { name: 'tree', exact: true }).click();
      assert.match((await asked).url(), /step=counted/); // of what the table is, and the chip says
      const rows = page.locator('.op-tree-row');
      await rows.first().waitFor();
      const { root } = await json(url, `api/op_tree?run=${RUN}&limit=5000&step=counted`);
      const top = await json(url, `api/top?run=${RUN}&limit=1&step=counted`);
      assert.equal(root.self_ps, top.total_self_ps);
      const [program] = root.children;
      assert.ok((await words(rows.first())).startsWith(program.name));
      assert.match(await words(page.locator('.sentence')), /of self time/);
      const count = await rows.count();
      await rows.first().focus();
      await page.keyboard.press('ArrowLeft');
      await until(page, 'closed', async () => (await rows.count()) === root.children.length);
      assert.equal(await rows.first().getAttribute('aria-expanded'), 'false');
      await page.keyboard.press('ArrowRight');
      await until(page, 'open again', async () => (await rows.count()) === count);
      await page.keyboard.press('ArrowDown');
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-level')), '2');
      /* What is known of no row is no column: one line says why. */
      assert.equal(await page.getByRole('columnheader', { name: /of peak/ }).count(), 0);
      assert.equal(
        await words(page.locator('.op-tree-unknown')),
        `No FLOPs of peak and bandwidth of peak: ${root.reasons.flops_share}.`,
      );
      await assertAccessible(page);
      await page.getByRole('combobox', { name: 'by' }).selectOption('category');
      await until(page, 'by category', (now) => now.first === 'category');
      const by = await json(url, `api/op_tree?run=${RUN}&first=category`);
      await until(page, 'the heaviest category', async () =>
        (await words(rows.first())).startsWith(by.root.children[0].name),
      );
      const op = page.locator('.op-tree-row[aria-level="4"] a').first();
      const name = await words(op);
      await op.click();
      await until(page, 'its slices', (now) => now.view === 'timeline' && now.find.includes(name));
    },
  ),

  'a tree of ops has a column of what one op at least is known of': scene(
    `?run=${RUN}&view=files`,
    async ({ page, url }) => {
      await changeAnswers(page, '**/api/op_tree?**', (reply) => {
        reply.root.children[0].bandwidth_share = 0.25;
        return reply;
      });
      await page.goto(`${url}?run=${RUN}&view=ops&as=tree`);
      await page.getByRole('columnheader', { name: 'bandwidth of peak' }).waitFor();
      assert.equal(await page.getByRole('columnheader', { name: 'FLOPs of peak' }).count(), 0);
      const cells = page.locator('.op-tree-row').first().locator('[role=gridcell]');
      assert.equal(await cells.count(), 5);
      assert.match(await words(cells.nth(3)), /25\.0 %/);
      assert.match(await words(page.locator('.op-tree-unknown')), /^No FLOPs of peak: /);
    },
  ),

  'the plan of memory is walked by keys': scene(`?run=${RUN}&view=memory&part=heap`, async ({ page, url }) => {
    const { points, peak_position: peak } = await json(url, `api/memory?run=${RUN}&view=heap&limit=1`);
    const chart = page.getByRole('slider', { name: /over its program/ });
    await chart.focus();
    const at = points.findIndex((point) => point.position >= peak);
    assert.equal(await chart.getAttribute('aria-valuenow'), String(at), 'it begins at the peak');
    for (const [key, place] of [
      ['ArrowRight', at + 1],
      ['ArrowLeft', at],
      ['Home', 0],
      ['End', points.length - 1],
    ]) {
      await page.keyboard.press(key);
      const position = String(points[place].position);
      await until(page, `${key} leads to ${position}`, (now) => now.position === position && now.view === 'memory');
      await until(page, 'it is told', async () => (await chart.getAttribute('aria-valuenow')) === String(place));
      assert.match(await chart.getAttribute('aria-valuetext'), new RegExp(`^instruction ${points[place].position}\\b`));
    }
  }),

  'the plan of memory names what is under the pointer, and a click leads to its instruction': scene(
    `?run=${RUN}&view=memory&part=heap`,
    async ({ page, url }) => {
      const plan = await json(url, `api/memory?run=${RUN}&view=heap&buffers=all&limit=5000`);
      const chart = page.getByRole('slider', { name: /over its program/ });
      await chart.waitFor();
      const legend = page.getByRole('list', { name: 'At the peak' });
      await legend.getByText('inputs').waitFor();
      await settle(page); // the chart stands where it will stay
      const box = await chart.boundingBox();
      const peak = plan.points.findIndex((point) => point.position === plan.peak_position);
      const x = box.x + 80 + ((box.width - 88) * plan.peak_position) / (plan.position_count - 1);
      const y = (bytes) => box.y + box.height - 24 - (bytes / (plan.peak_bytes * 1.17)) * (box.height - 40);
      const alive = plan.rows.filter((row) => row.from_point <= peak && peak <= row.to_point);
      assert.equal(
        alive.reduce((sum, row) => sum + row.bytes, 0),
        plan.peak_bytes,
        'what is alive at the peak is the peak',
      );
      const half = Math.round(y(plan.peak_bytes / 2)); // clicks have whole pixels
      await page.mouse.move(Math.round(x), half);
      const tip = page.locator('.tooltip strong');
      await tip.waitFor();
      const name = (await tip.textContent()).replace(/\{.*/, '');
      assert.ok(
        alive.some((row) => row.name === name),
        name,
      );
      await page.mouse.click(Math.round(x), half);
      await until(page, 'its instruction', (now) => now.view === 'hlo' && now.name === name);
      await page.locator('.hlo-line.focus').waitFor();
      await page.goBack();
      await chart.waitFor();
      await page.getByRole('link', { name: 'type', exact: true }).click();
      await until(page, 'by type', (now) => now.stack === 'type');
      await legend.getByText('f32').waitFor();
      const empty = await chart.boundingBox();
      await page.mouse.click(empty.x + 81, empty.y + 20); // above all: a place of the program
      await until(page, 'a place', (now) => now.position === '0' && now.view === 'memory');
    },
  ),

  'sandwich: all that leads to a name and all below it, each as wide as the name': scene(
    `?run=${RUN}&view=flame&by=scope&key=jit_train_step`,
    async ({ page, url }) => {
      await page.getByRole('link', { name: 'sandwich' }).click();
      await until(page, 'its sandwich', (now) => now.sandwich === 'jit_train_step');
      const { root } = await json(url, `api/flame?run=${RUN}&by=scope`);
      let node = root;
      while (node.children.length > 0) node = node.children[0];
      await page.goto(`${url}?run=${RUN}&view=flame&by=scope&sandwich=${encodeURIComponent(node.name)}`);
      const sides = page.locator('.sandwich-side');
      await sides.nth(0).locator('.flame').waitFor();
      const { focus, sandwich } = await json(
        url,
        `api/flame?run=${RUN}&by=scope&sandwich=yes&focus=${encodeURIComponent(node.name)}`,
      );
      assert.equal(sandwich.callers.total_ps, focus.total_ps);
      assert.match(await words(page.locator('.sandwich .dots')), /of all/);
      const callers = sides.nth(0).locator('.flame');
      await callers.focus();
      await page.keyboard.press('ArrowUp');
      await until(page, 'its caller', (now) => now.sandwich === sandwich.callers.children[0].name);
      await page.getByRole('link', { name: 'all', exact: true }).click();
      await until(page, 'the whole', (now) => now.sandwich === undefined);
      await assertAccessible(page);
    },
  ),

  'a zoomed flame graph shows where it stands in the whole': scene(
    `?run=${RUN}&view=flame&by=scope`,
    async ({ page, url }) => {
      assert.equal(await page.locator('.flame-map').count(), 0);
      const { root } = await json(url, `api/flame?run=${RUN}&by=scope`);
      const [child] = root.children;
      const box = await page.locator('.flame').boundingBox();
      await page.mouse.click(box.x + 20, box.y + 30);
      await until(page, 'zoomed', (now) => now.zoom === child.name.replaceAll(';', ':'));
      const map = page.locator('.flame-map .canvas-box');
      await map.waitFor();
      assert.match(
        await map.getAttribute('aria-label'),
        new RegExp(`shown is ${child.name.replace(/[().]/g, '\\$&')}`),
      );
      const place = await map.boundingBox();
      await page.mouse.click(place.x + 10, place.y + 2);
      await until(page, 'all of it again', (now) => now.zoom === undefined);
    },
  ),

  'PyTorch begins with the stacks of calls': scene(`?run=${RUN}`, async ({ page, url }) => {
    await page.route('**/api/run?**', async (route) => {
      const run = await (await route.fetch()).json();
      await route.fulfill({ json: { ...run, framework: 'pytorch' } });
    });
    const asked = page.waitForRequest(/api\/flame\?.*by=host/);
    await page.goto(`${url}?run=${RUN}&view=flame`);
    await asked;
    await page.locator('.flame').waitFor();
    const by = page.getByRole('combobox', { name: 'by' });
    assert.equal(await by.evaluate((select) => select.selectedOptions[0].textContent), 'call stack');
    assert.equal((await address(page)).by, undefined);
  }),
};
