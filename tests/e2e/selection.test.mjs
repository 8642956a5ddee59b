/* SPDX-License-Identifier: Apache-2.0 */
/* One slice: how it stands among its mates, its instruction, what it waited for, its table. */
import assert from 'node:assert/strict';
import { json, openPage, settle, until } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';

async function longestOp(url) {
  const reply = await json(url, 'api/slices?run=step_1000&sort=-dur_ps&limit=400');
  return reply.rows.find((row) => row.kind === 'compute');
}

function scene(body) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url);
    try {
      const slice = await longestOp(url);
      await opened.page.goto(`${url}${QUERY}&slice=${slice.id}`);
      await settle(opened.page);
      await body({ ...opened, url, slice });
      assert.deepEqual(opened.complaints, [], 'the console');
    } finally {
      await opened.context.close();
    }
  };
}

export const tests = {
  'a slice is marked in the histogram of its mates': scene(async ({ page, url, slice }) => {
    const { mates } = await json(url, `api/slice?run=step_1000&id=${slice.id}`);
    const bars = await page
      .locator('.mates rect')
      .evaluateAll((all) =>
        all.map((bar) => ({ own: bar.classList.contains('own'), height: Number(bar.getAttribute('height')) })),
      );
    assert.equal(bars.length, mates.histogram.counts.length);
    const own = mates.histogram.bounds_ps.findLastIndex((bound) => bound <= slice.dur_ps);
    assert.deepEqual(
      bars.flatMap((bar, index) => (bar.own ? [index] : [])),
      [Math.min(own, bars.length - 1)],
    );
    const links = (
      await page.locator('.lower-body a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    ).map((href) => Object.fromEntries(new URLSearchParams(href)));
    assert.ok(
      links.some((to) => to.view === 'timeline' && to.find === `is:${slice.name}`),
      'to all of its name',
    );
    assert.ok(
      links.some((to) => to.view === 'ops' && to.op === slice.name),
      'to its card among the ops',
    );
    mates.histogram.counts.forEach((count, index) => assert.ok(count === 0 || bars[index].height >= 2, `bar ${index}`));
  }),

  'its instruction is in view, with what the opcode means': scene(async ({ page, url, slice }) => {
    const details = await json(url, `api/slice?run=step_1000&id=${slice.id}`);
    const number = details.args.find((arg) => arg.name === 'program_id').value;
    const { instruction } = await json(
      url,
      `api/hlo?run=step_1000&module=${details.module}(${number})&instruction=${details.op}`,
    );
    const text = await page.locator('.hlo-facts-of-slice').innerText();
    assert.ok(text.includes(instruction.text), text.slice(0, 300));
    assert.ok(text.includes(instruction.meaning.words));
    assert.match(
      await page.locator('.hlo-facts-of-slice a', { hasText: /^more$/ }).getAttribute('href'),
      /^https:\/\/openxla\.org\//,
    );
  }),

  'what it waited for is listed and drawn, each link ready before the one after it began': scene(
    async ({ page, url, slice }) => {
      await page.locator('.tracks-canvas').press('b');
      await page.locator('.chain dd').first().waitFor();
      const ids = await page
        .locator('.chain a')
        .evaluateAll((all) => all.map((link) => new URL(link.href).searchParams.get('slice')));
      const chain = await json(url, `api/chain?run=step_1000&slice=${slice.id}&limit=200`);
      assert.ok(ids.length > 0);
      assert.deepEqual(
        ids,
        chain.rows.map((link) => link.id),
      );
      let at = slice;
      for (const link of chain.rows) {
        assert.equal(
          link.start_ps + link.covered_ps + link.gap_ps,
          at.start_ps,
          `${link.name} and its gap lead to ${at.name}`,
        );
        if (link.via === 'before') {
          const within = `start_ps=${link.start_ps + link.dur_ps}&end_ps=${at.start_ps}`;
          const { rows } = await json(url, `api/slices?run=step_1000&track=${at.track}&${within}&limit=1000`);
          const between = rows.filter(
            (row) =>
              row.depth === at.depth &&
              row.dur_ps > 0 &&
              row.start_ps >= link.start_ps + link.dur_ps &&
              row.start_ps + row.dur_ps <= at.start_ps,
          );
          assert.deepEqual(
            between.map((row) => row.name),
            [],
            'nothing lies between',
          );
        }
        if (link.via === 'flow') {
          const { flows } = await json(url, `api/slice?run=step_1000&id=${at.id}`);
          assert.ok(
            flows.some((flow) => flow.from.slice === link.id && flow.to.slice === at.id),
            'an arrow leads there',
          );
        }
        if (link.via === 'inside')
          assert.ok(link.start_ps + link.dur_ps >= at.start_ps + at.dur_ps && link.track === at.track);
        at = link;
      }
      const first = chain.rows.at(-1);
      assert.equal(
        chain.covered_ps + chain.gap_ps,
        slice.start_ps - first.start_ps,
        'covers and gaps are the whole way back',
      );
    },
  ),

  "a double click shows the slice, and its track's events from it on": scene(async ({ page, url, slice }) => {
    await page.keyboard.press('Escape');
    const box = await page.locator('.tracks-canvas').boundingBox();
    await page.mouse.dblclick(box.x + box.width / 2, box.y + 24 + 8);
    const table = page.getByRole('grid', { name: /^Events of/ });
    await table.waitFor();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('window'));
    const id = await page.evaluate(() => new URLSearchParams(location.search).get('slice'));
    const focus = await json(url, `api/slice?run=step_1000&id=${id}`);
    assert.notEqual(id, slice.id);
    await table.locator('.table-row[aria-selected=true]').waitFor();
    const { rows } = await json(
      url,
      `api/slices?run=step_1000&track=${focus.track}&start_ps=${focus.start_ps}&limit=3`,
    );
    assert.ok((await table.locator('.table-row').first().innerText()).includes(rows[0].name));
    await page.getByRole('button', { name: 'All tracks of the window' }).click();
    const all = page.getByRole('grid', { name: 'Slices in the window' });
    await all.waitFor();
    const window = (await page.evaluate(() => new URLSearchParams(location.search).get('window'))).split('-');
    const inside = (
      await json(url, `api/slices?run=step_1000&start_ps=${window[0]}&end_ps=${window[1]}&limit=10000`)
    ).rows.filter((row) => row.name.includes(focus.name));
    await page.getByLabel('Filter rows').fill(focus.name);
    await page.getByLabel('group').selectOption('track');
    const group = page.getByRole('treegrid', { name: 'Slices in the window' }).locator('.table-row.group');
    await group.first().waitFor();
    await until(page, 'filter and group', (now) => now.slices_group === 'track' && now.slices_q === focus.name);
    const counts = (await group.locator('.faint').allInnerTexts()).map(Number);
    assert.equal(
      counts.reduce((sum, one) => sum + one, 0),
      inside.length,
      'groups hold what the filter leaves',
    );
    assert.ok(counts.length <= new Set(inside.map((row) => row.track)).size);
  }),

  'U makes the step under the pointer the range; its flame graph and its idle time follow': scene(
    async ({ page, url }) => {
      const { rows: steps } = await json(url, 'api/steps?run=step_1000');
      const box = await page.locator('.tracks-canvas').boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 200);
      await page.locator('.tracks-canvas').press('u');
      await page.waitForFunction(() => new URLSearchParams(location.search).has('start_ps'));
      const { start_ps, end_ps } = Object.fromEntries(new URL(page.url()).searchParams);
      assert.ok(
        steps.some((step) => String(step.start_ps) === start_ps && String(step.start_ps + step.dur_ps) === end_ps),
        `${start_ps} to ${end_ps}`,
      );
      await page.getByRole('tab', { name: 'Flame' }).click();
      await page.locator('.flame-small canvas').waitFor();
      await page.waitForFunction(() => document.querySelector('.flame-small .canvas-box')?.clientHeight > 30);
      await page.getByRole('tab', { name: 'Range' }).click();
      await page.locator('.lower select').selectOption('idle');
      const { rows: idle } = await json(
        url,
        `api/steps?run=step_1000&view=idle&start_ps=${start_ps}&end_ps=${end_ps}&limit=100`,
      );
      await page
        .getByRole('grid', { name: /^Idle/ })
        .or(page.getByText('No device that recorded an op was idle here.'))
        .waitFor();
      assert.equal(await page.getByRole('grid', { name: /^Idle/ }).locator('.table-row').count(), idle.length);
    },
  ),
};
