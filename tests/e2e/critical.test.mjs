/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path: a row above the tracks that is walked from end to end, its arrow, slack beside it;
 * and the page on which one drags a bar and sees what a step would take. */
import assert from 'node:assert/strict';
import { eventually, json, openPage, settle, until } from './browser.mjs';

const RUN = 'step_1000';

async function within({ browser, url }, query, body) {
  const opened = await openPage(browser, url);
  try {
    await opened.page.goto(url + query);
    await settle(opened.page);
    await body(opened.page, url);
    assert.deepEqual(opened.complaints, []);
    assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
  } finally {
    await opened.context.close();
  }
}

const words = async (place) => (await place.innerText()).replaceAll(/[\u202f\n]/g, ' ');
const spoken = (ms) => new RegExp(`would take ${ms.toPrecision(3).replace('.', '\\.')} ms`);

export const tests = {
  'the path is a row that is walked from end to end': (at) =>
    within(at, `?run=${RUN}&view=timeline`, async (page, url) => {
      const row = page.locator('.timeline-path');
      await eventually('the path comes', async () => Number(await row.getAttribute('data-pieces')) > 0);
      const step = Number(/step (\d+)/.exec(await row.innerText())[1]);
      const path = await json(url, `api/critical?run=${RUN}&step=${step}&limit=10000`);
      assert.equal(Number(await row.getAttribute('data-pieces')), path.pieces.length);
      for (let index = 0; index < 6; index++) {
        await page.keyboard.press(']');
        await until(page, `piece ${index}`, (now) => now.piece === `${step}.${index}`);
        const piece = path.pieces[index];
        await until(page, 'its slice', (now) => (now.slice ?? null) === piece.slice);
        const line = page.locator('.piece-line');
        await eventually(
          () => `${index + 1} of ${path.pieces.length}`,
          async () => (await words(line)).includes(`${index + 1} of ${path.pieces.length} on the critical path`),
        );
        if (piece.waits_for !== null) {
          const from = await json(url, `api/slice?run=${RUN}&id=${piece.waits_for}`);
          await eventually('what it waited for, by name', async () => (await words(line)).includes(from.name));
        }
        assert.ok((await words(line)).includes(piece.evidence), await words(line));
      }
      await page.keyboard.press('[');
      await until(page, 'the piece before', (now) => now.piece === `${step}.4`);
      await page.keyboard.press('Escape');
      await until(page, 'no piece', (now) => now.piece === undefined && now.slice === undefined);
      await page.keyboard.press('[');
      await until(page, 'the last one', (now) => now.piece === `${step}.${path.pieces.length - 1}`);
    }),
  'a click chooses the piece, and zooming keeps it under its time': (at) =>
    within(at, `?run=${RUN}&view=timeline`, async (page, url) => {
      const row = page.locator('.timeline-path');
      await eventually('the path comes', async () => Number(await row.getAttribute('data-pieces')) > 0);
      const step = Number(/step (\d+)/.exec(await row.innerText())[1]);
      const path = await json(url, `api/critical?run=${RUN}&step=${step}&limit=10000`);
      const longest = path.pieces.reduce((a, b) => (b.dur_ps > a.dur_ps ? b : a));
      await page.goto(
        `${url}?run=${RUN}&view=timeline&window=${longest.start_ps - 1e9}-${longest.start_ps + longest.dur_ps + 1e9}`,
      );
      await settle(page);
      await eventually('the path comes again', async () => Number(await row.getAttribute('data-pieces')) > 0);
      const box = await row.locator('.canvas-box').boundingBox();
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await until(page, 'the longest piece', (now) => now.slice === longest.slice);
      await eventually('its share of the path', async () =>
        /on the critical path of step/.test(await words(page.locator('.on-path'))),
      );
    }),
  'beside the path there is slack': (at) =>
    within(at, `?run=${RUN}`, async (page, url) => {
      const { rows } = await (
        await fetch(`${url}api/sql?run=${RUN}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Jviewd-CSRF': '1' },
          body: JSON.stringify({
            query:
              'select slice, min(slack_ps) as least from slack group by slice having count(*) = 1 ' +
              'order by least desc limit 1',
          }),
        })
      ).json();
      await page.goto(`${url}?run=${RUN}&view=timeline&slice=${rows[0].slice}`);
      await settle(page);
      const ms = (Number(rows[0].least) / 1e9).toPrecision(3);
      await eventually('its slack', async () => (await words(page.locator('.on-path'))).includes(`slack ${ms} ms`));
    }),
  'the path is taken away and comes back': (at) =>
    within(at, `?run=${RUN}&view=timeline&path=off`, async (page) => {
      assert.equal(await page.locator('.timeline-path').count(), 0);
      await page.locator('.ruler-left button').click();
      await page.getByRole('menuitemradio', { name: 'Critical path of the step' }).click();
      await eventually('it comes', async () => (await page.locator('.timeline-path').count()) === 1);
    }),
  'a bar is dragged, and the step is told': (at) =>
    within(at, `?run=${RUN}&view=why`, async (page, url) => {
      const ask = (scale) =>
        fetch(`${url}api/whatif`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Jviewd-CSRF': '1' },
          body: JSON.stringify({ run: RUN, scale }),
        }).then((reply) => reply.json());
      const { rows } = await json(url, `api/critical?run=${RUN}&by=place&limit=1`);
      const bar = page.locator('.whatif-bar').first();
      await bar.waitFor();
      const box = await bar.boundingBox();
      const length = box.width * rows[0].share; // the room is the whole path
      const is = await bar.locator('.is').boundingBox();
      assert.ok(Math.abs(is.width - length) < 1, `${is.width} of ${box.width} pixels for ${rows[0].share}`);
      const end = box.x + length - 2;
      await page.mouse.move(end, box.y + 10);
      await page.mouse.down();
      await page.mouse.move(end - length / 4, box.y + 10, { steps: 6 });
      await page.mouse.move(end - length / 2, box.y + 10, { steps: 6 });
      await page.mouse.up();
      await until(page, 'a half', (now) => now.scale === `scope:${rows[0].scope}=0.5`);
      const half = await ask([`scope:${rows[0].scope}=0.5`]);
      assert.ok(half.predicted_ps < half.replayed_ps);
      const box_ = page.locator('.whatif');
      await eventually('the predicted step', async () => spoken(half.predicted_ps / 1e9).test(await words(box_)));
      await bar.focus();
      await page.keyboard.press('Home');
      const none = await ask([`scope:${rows[0].scope}=0`]);
      await eventually('without it', async () => spoken(none.predicted_ps / 1e9).test(await words(box_)));
      /* Beyond the room the bar is full, and the number tells. */
      await page.getByRole('button', { name: 'As it was' }).click();
      await until(page, 'nothing changed', (now) => now.scale === undefined);
      const beyond = box.width / length + 0.5;
      await page.mouse.move(end, box.y + 10);
      await page.mouse.down();
      await page.mouse.move(end + length * (beyond - 1), box.y + 10, { steps: 6 });
      await page.mouse.up();
      await eventually('how much longer', async () => {
        const told = /× ([\d.]+)/.exec(await words(page.locator('.whatif-row').first()));
        return told !== null && Math.abs(Number(told[1]) - beyond) < 0.05;
      });
      const full = await bar.locator('.is').boundingBox();
      assert.ok(Math.abs(full.width - box.width) < 1, `${full.width} of ${box.width}`);
      await page.getByRole('button', { name: 'As it was' }).click();
      await until(page, 'nothing changed', (now) => now.scale === undefined);
      await eventually('the recorded step', async () => /A step takes/.test(await words(box_)));
    }),
};
