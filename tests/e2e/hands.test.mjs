/* SPDX-License-Identifier: Apache-2.0 */
/* Hands on the timeline: menus, boxes, marks, idle gaps, tracks put in order, touch. */
import assert from 'node:assert/strict';
import { address, json, openPage, pass, rest, settle, until, windowOf } from './browser.mjs';

const QUERY = '?run=step_1000&view=timeline';
const FLUNG = 'a flung drag runs on';
export const alone = [FLUNG]; // a hand is quick or slow as the machine is

function scene(body, query = '', options = {}) {
  return async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url, options);
    try {
      await page.goto(url + QUERY + query);
      await settle(page);
      const box = await page.locator('.tracks-canvas').boundingBox();
      await body({ page, box, url, context });
      assert.deepEqual(complaints, [], 'the console');
      assert.deepEqual(foreign, [], 'requests that leave the origin');
    } finally {
      await context.close();
    }
  };
}

async function drag(page, from, to, key = null) {
  await page.mouse.move(from.x, from.y);
  if (key) await page.keyboard.down(key);
  await page.mouse.down();
  for (let step = 1; step <= 6; step++)
    await page.mouse.move(from.x + ((to.x - from.x) * step) / 6, from.y + ((to.y - from.y) * step) / 6);
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

/* The longest slice of a kind that is in the first view, in the middle of the screen and 400 px wide. */
async function centred(page, url, kind = 'compute') {
  const steps = await json(url, 'api/steps?run=step_1000');
  const first = steps.rows.find((row) => !row.warmup);
  const reply = await json(url, `api/slices?run=step_1000&sort=-dur_ps&limit=2000&start_ps=${first.start_ps}`);
  const slice = reply.rows.find((row) => row.kind === kind);
  await page.goto(
    `${url}${QUERY}&slice=${slice.id}&window=${slice.start_ps - slice.dur_ps}-${slice.start_ps + 2 * slice.dur_ps}`,
  );
  await settle(page);
  return slice;
}

/* Where the row of the focus is on the screen. */
async function rowOf(page, slice) {
  const name = page.locator(`[data-id="${slice.track}"]`);
  await name.scrollIntoViewIfNeeded();
  const box = await name.boundingBox();
  return box.y + slice.depth * 20 + 9;
}

/* Touches as a finger makes them, by the browser's own protocol. */
async function touches(page) {
  const session = await page.context().newCDPSession(page);
  const send = (type, points) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  return {
    start: (...points) => send('touchStart', points),
    move: (...points) => send('touchMove', points),
    end: () => send('touchEnd', []),
  };
}

export const tests = {
  'a right click on a slice offers its menu; Esc gives the focus back': scene(async ({ page, box, url }) => {
    const slice = await centred(page, url);
    const y = await rowOf(page, slice);
    await page.mouse.click(box.x + box.width / 2, y, { button: 'right' });
    const menu = page.getByRole('menu', { name: 'Slice' });
    await menu.waitFor();
    await pass(page, 400);
    assert.equal(await page.locator('.tooltip').count(), 0, 'no late tooltip over the menu');
    await page.keyboard.press('Escape');
    assert.equal(await menu.count(), 0);
    await page.mouse.click(box.x + box.width / 2, y, { button: 'right' });
    await menu.getByRole('menuitem', { name: /Range = this/ }).click();
    await until(
      page,
      'the range',
      (now) => now.start_ps === String(slice.start_ps) && now.end_ps === String(slice.start_ps + slice.dur_ps),
    );
    await page.mouse.click(box.x + box.width / 2, y, { button: 'right' });
    await menu.getByRole('menuitem', { name: 'Only this name' }).click();
    await until(page, 'only that name', (now) => now.name === slice.name);
  }),

  'a box by shift + drag snaps to slices, exactly, and veils the other tracks': scene(async ({ page, box, url }) => {
    const slice = await centred(page, url);
    const y = await rowOf(page, slice);
    const third = box.width / 3;
    await drag(page, { x: box.x + third + 5, y }, { x: box.x + 2 * third - 5, y }, 'Shift');
    await until(
      page,
      'the range',
      (now) => now.start_ps === String(slice.start_ps) && now.end_ps === String(slice.start_ps + slice.dur_ps),
    );
    assert.equal(address(page).track, slice.track);
    assert.ok((await page.getByRole('treeitem').count()) > 1, 'other tracks stay');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await until(page, 'nothing is left of it', (now) => now.start_ps === undefined && now.track === undefined);
  }),

  'an edge of the range is dragged, the bar on the ruler moves it': scene(async ({ page, box }) => {
    const ruler = await page.locator('.ruler').boundingBox();
    await drag(page, { x: box.x + 300, y: ruler.y + 8 }, { x: box.x + 500, y: ruler.y + 8 });
    await until(page, 'a range', (now) => now.end_ps !== undefined);
    const first = address(page);
    await drag(page, { x: box.x + 500, y: box.y + 200 }, { x: box.x + 600, y: box.y + 200 });
    await until(page, 'longer', (now) => now.start_ps === first.start_ps && Number(now.end_ps) > Number(first.end_ps));
    const longer = address(page);
    await drag(page, { x: box.x + 400, y: ruler.y + 8 }, { x: box.x + 450, y: ruler.y + 8 });
    await until(page, 'moved', (now) => Number(now.start_ps) > Number(longer.start_ps));
    const moved = address(page);
    assert.equal(
      BigInt(moved.end_ps) - BigInt(moved.start_ps),
      BigInt(longer.end_ps) - BigInt(longer.start_ps),
      'as long as before',
    );
  }),

  'the table follows while a range is dragged': scene(async ({ page, box }) => {
    const ruler = await page.locator('.ruler').boundingBox();
    const words = async () => page.locator('.lower .toolbar p').innerText();
    await page.mouse.move(box.x + 300, ruler.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 420, ruler.y + 8, { steps: 4 });
    await until(page, 'its first words', async () => (await words()).startsWith('Range: '));
    await rest(page);
    const before = await words();
    await page.mouse.move(box.x + 520, ruler.y + 8, { steps: 4 });
    await until(page, 'other words', async () => (await words()) !== before);
    assert.equal(address(page).start_ps, undefined, 'nothing is written before the end');
    await page.mouse.up();
    await until(page, 'the range', (now) => now.start_ps !== undefined);
  }),

  'marks are kept in the address, come back, are renamed and removed': scene(async ({ page, box }) => {
    const ruler = await page.locator('.ruler').boundingBox();
    await drag(page, { x: box.x + 300, y: ruler.y + 8 }, { x: box.x + 500, y: ruler.y + 8 });
    await until(page, 'a range', (now) => now.end_ps !== undefined);
    const { start_ps, end_ps } = address(page);
    await page.keyboard.press('Shift+M');
    await until(page, 'the mark', (now) => now.mark === `${start_ps}-${end_ps}:A`);
    await page.keyboard.press('Escape');
    await until(page, 'no range', (now) => now.start_ps === undefined);
    await page.reload();
    await settle(page);
    const flag = page.getByRole('button', { name: 'Mark A' });
    await flag.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name of the mark' }).fill('slow, here');
    await page.keyboard.press('Enter');
    await until(page, 'its name', (now) => now.mark === `${start_ps}-${end_ps}:slow here`);
    await page.getByRole('button', { name: 'Mark slow here' }).click();
    await until(page, 'the range again', (now) => now.start_ps === start_ps && now.end_ps === end_ps);
    await page.getByRole('button', { name: 'Mark slow here' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await until(page, 'no mark', (now) => now.mark === undefined);
  }),

  'I goes from idle gap to idle gap: nothing ran in there, something at both ends': scene(async ({ page, url }) => {
    const slice = await centred(page, url);
    await page.keyboard.press('0');
    await rest(page);
    await page.keyboard.press('i');
    await until(page, 'a gap', (now) => now.start_ps !== undefined);
    const { start_ps, end_ps } = address(page);
    const within = `start_ps=${BigInt(start_ps) + 1n}&end_ps=${BigInt(end_ps) - 1n}`;
    const inside = await json(url, `api/slices?run=step_1000&track=${slice.track}&${within}`);
    assert.deepEqual(
      inside.rows.filter((row) => row.dur_ps > 0),
      [],
    );
    const before = await json(
      url,
      `api/slices?run=step_1000&track=${slice.track}&start_ps=${BigInt(start_ps) - 2n}&end_ps=${start_ps}`,
    );
    const after = await json(
      url,
      `api/slices?run=step_1000&track=${slice.track}&start_ps=${end_ps}&end_ps=${BigInt(end_ps) + 2n}`,
    );
    assert.ok(before.rows.length > 0 && after.rows.length > 0, `${start_ps} ${end_ps}`);
    await page.keyboard.press('i');
    await until(page, 'the next', (now) => BigInt(now.start_ps) >= BigInt(end_ps));
    await page.keyboard.press('Shift+I');
    await until(page, 'back', (now) => now.start_ps === start_ps && now.end_ps === end_ps);
  }),

  'tracks are pinned, hidden and brought back': scene(async ({ page }) => {
    const names = async () => page.getByRole('treeitem').evaluateAll((all) => all.map((one) => one.dataset.id));
    const before = await names();
    const third = page.getByRole('treeitem').nth(2);
    await third.hover();
    await third.getByRole('button', { name: /^Pin/ }).click();
    await until(page, 'pinned', async (now) => now.pin === before[2] && (await names())[0] === before[2]);
    await page.getByRole('treeitem').nth(2).click({ button: 'right' });
    const hidden = (await names())[2];
    await page.getByRole('menuitem', { name: 'Hide' }).click();
    await until(page, 'hidden', async (now) => now.hide === hidden && !(await names()).includes(hidden));
    await page.getByRole('button', { name: 'Remove 1 track hidden' }).click();
    await until(page, 'there again', async (now) => now.hide === undefined && (await names()).includes(hidden));
  }),

  'a finger and the keys reach what stands at a name': scene(
    async ({ page }) => {
      const row = page.getByRole('treeitem').nth(2);
      const id = await row.getAttribute('data-id');
      const box = await row.boundingBox();
      await page.touchscreen.tap(box.x + box.width - 12, box.y + box.height / 2);
      assert.equal(address(page).hide ?? address(page).track, undefined, 'nothing is chosen before it is seen');
      await row.getByRole('button', { name: /^Pin/ }).tap();
      await until(page, 'pinned', (now) => now.pin === id);
      await settle(page);
      const first = page.getByRole('treeitem').first();
      await first.tap();
      await first.getByRole('button', { name: /^Unpin/ }).tap();
      await until(page, 'as before', (now) => now.pin === undefined);
      await settle(page);
      await page.getByRole('treeitem').first().focus();
      for (const [at, key] of ['Home', 'ArrowDown', 'ArrowDown'].entries()) {
        await page.keyboard.press(key);
        await until(page, `row ${at} in focus`, () =>
          page
            .getByRole('treeitem')
            .nth(at)
            .evaluate((one) => one === document.activeElement && one.tabIndex === 0),
        );
      }
      for (let turn = 0; turn < 2; turn++) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await until(page, 'hidden by its button', (now) => now.hide === id);
    },
    '',
    { hasTouch: true },
  ),

  'tracks are dragged into another order, and moved by menu': scene(async ({ page }) => {
    const siblings = () =>
      page.locator('.track-name[aria-level="2"]').evaluateAll((all) => all.map((one) => one.dataset.id));
    const before = await siblings();
    assert.ok(before.length > 1, 'there are two');
    const [first, second] = [
      await page.locator(`[data-id="${before[0]}"]`).boundingBox(),
      await page.locator(`[data-id="${before[1]}"]`).boundingBox(),
    ];
    await drag(page, { x: first.x + 60, y: first.y + 8 }, { x: first.x + 60, y: second.y + 30 });
    await until(
      page,
      'the other way round',
      async (now) => now.tracks !== undefined && (await siblings())[0] === before[1],
    );
    await page.locator(`[data-id="${before[0]}"]`).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Move up' }).click();
    await until(page, 'as before', async () => (await siblings())[0] === before[0]);
  }),

  'steps by J and K, the range by Z, the slice by a double click': scene(async ({ page, box, url }) => {
    const steps = await json(url, 'api/steps?run=step_1000');
    await page.keyboard.press('j');
    await until(page, 'a step', (now) => now.window !== undefined);
    const [, row] = steps.rows
      .map((one) => [Math.abs(one.start_ps + one.dur_ps / 2 - (windowOf(page).start + windowOf(page).end) / 2), one])
      .sort((a, b) => a[0] - b[0])[0];
    await page.keyboard.press('k');
    await until(page, 'the step before', () => windowOf(page).end < row.start_ps + row.dur_ps);
    const slice = await centred(page, url);
    const y = await rowOf(page, slice);
    await page.mouse.dblclick(box.x + box.width / 2, y);
    await until(page, 'the slice', () => Math.abs(windowOf(page).span - 1.2 * slice.dur_ps) < slice.dur_ps / 50);
    await page.keyboard.press('m');
    await until(page, 'the range', (now) => now.start_ps === String(slice.start_ps));
    await page.keyboard.press('z');
    await until(
      page,
      'the range in view',
      () => Math.abs(windowOf(page).span - 1.04 * slice.dur_ps) < slice.dur_ps / 50,
    );
  }),

  '] follows the flow and [ comes back': scene(async ({ page, url }) => {
    const reply = await json(url, 'api/slices?run=step_1000&sort=-dur_ps&limit=3000');
    let found = null;
    for (const row of reply.rows) {
      const details = await json(url, `api/slice?run=step_1000&id=${row.id}`);
      const flow = details.flows?.find((one) => one.from.slice === row.id && one.to.slice);
      if (flow) found = { from: row.id, to: flow.to.slice };
      if (found) break;
    }
    assert.ok(found, 'the sample has an arrow');
    await page.goto(`${url}${QUERY}&slice=${found.from}`);
    await settle(page);
    await page.keyboard.press(']');
    await until(page, 'the other end', (now) => now.slice === found.to);
    await rest(page);
    await page.keyboard.press('[');
    await until(page, 'back', (now) => now.slice !== found.to);
  }),

  [FLUNG]: scene(
    async ({ page, box }) => {
      await page.mouse.move(box.x + 600, box.y + 200);
      await page.keyboard.press('w');
      await page.keyboard.press('w');
      await rest(page);
      let moved = 0;
      for (let turn = 0; turn < 3 && moved <= 200 / box.width + 0.01; turn++) {
        const before = windowOf(page);
        await page.mouse.move(box.x + 600, box.y + 200);
        // From within the page, each event with its own time: on a busy machine the hand would come to rest
        // before it lets go.
        await page.evaluate(
          ([x, y]) => {
            const canvas = document.querySelector('.tracks-canvas');
            const begin = performance.now();
            const hand = (type, clientX, after) => {
              const event = new PointerEvent(type, {
                bubbles: true,
                cancelable: true,
                pointerId: 1,
                pointerType: 'mouse',
                buttons: 1,
                clientX,
                clientY: y,
              });
              Object.defineProperty(event, 'timeStamp', { value: begin + after });
              canvas.dispatchEvent(event);
            };
            hand('pointerdown', x, 0);
            for (let step = 1; step <= 5; step++) hand('pointermove', x - 40 * step, 10 * step);
            hand('pointerup', x - 200, 55);
          },
          [box.x + 600, box.y + 200],
        );
        await pass(page, 450); // it runs on for 400
        await rest(page);
        moved = (windowOf(page).start - before.start) / before.span;
      }
      assert.ok(moved > 200 / box.width + 0.01, `${moved} of the window, the hand alone made ${200 / box.width}`);
    },
    '',
    { reducedMotion: 'no-preference' },
  ),

  'one finger pans, two pinch, a long press opens the menu or draws a box': scene(
    async ({ page, box }) => {
      const finger = await touches(page);
      const y = box.y + 150;
      await page.keyboard.press('0');
      await rest(page);
      await finger.start([box.x + 300, y], [box.x + 500, y]);
      for (let step = 1; step <= 5; step++)
        await finger.move([box.x + 300 - 20 * step, y], [box.x + 500 + 20 * step, y]);
      await finger.end();
      await rest(page);
      const pinched = windowOf(page);
      const whole = (await page.evaluate(() => fetch('api/run?run=step_1000').then((reply) => reply.json())))
        .duration_ps;
      assert.ok(
        Math.abs(pinched.span / (whole * 1.02) - 0.5) < 0.1,
        `half as much is in view: ${pinched.span / whole}`,
      );
      await finger.start([box.x + 600, y]);
      for (let step = 1; step <= 5; step++) await finger.move([box.x + 600 - 30 * step, y]);
      await pass(page, 120);
      await finger.end();
      await rest(page);
      assert.ok(
        Math.abs((windowOf(page).start - pinched.start) / pinched.span - 150 / box.width) < 0.03,
        'panned by the way of the finger',
      );
      await finger.start([box.x + 600, y]);
      await pass(page, 500);
      await finger.end();
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('Escape');
      await finger.start([box.x + 200, y]);
      await pass(page, 500);
      for (let step = 1; step <= 5; step++) await finger.move([box.x + 200 + 40 * step, y]);
      await finger.end();
      await until(page, 'a box', (now) => now.start_ps !== undefined && now.track !== undefined);
    },
    '',
    { hasTouch: true },
  ),
};
