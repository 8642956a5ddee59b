/* Memory over time: what counts towards the peak is drawn, named and told under the pointer. */
import assert from 'node:assert/strict';
import { openPage, settle } from './browser.mjs';

const GIB = 2 ** 30;
const sample = (at_ps, allocated, reserved) => ({ at_ps, allocated_bytes: allocated * GIB, reserved_bytes: reserved * GIB });
const allocator = (name, samples, peak, at) => ({ name, host: 'h', samples, peak_bytes: peak * GIB, peak_at_ps: at, capacity_bytes: 8 * GIB });
const REPLY = {
  allocators: [
    allocator('device 10', [sample(0, 0, 0), sample(1e9, 1, 0)], 1, 1e9),
    allocator('device 2', [sample(0, 0, 0), sample(1e9, 1, 2), sample(2e9, 1, 2)], 3, 1e9),
  ],
};

export const tests = {
  'reserved memory stands upon what is allocated; devices in their order': async ({ browser, url }) => {
    const { page, context, complaints, foreign } = await openPage(browser, url);
    try {
      await page.route('**/api/run?**', async (route) => {
        const reply = await route.fetch();
        const run = await reply.json();
        await route.fulfill({ response: reply, json: { ...run, views: { ...run.views, memory: null } } });
      });
      await page.route('**/api/memory?**', (route) => route.fulfill({ json: REPLY }));
      await page.goto(`${url}?run=step_1000&view=memory`);
      await settle(page);
      const text = (await page.locator('main').innerText()).replaceAll('\u202f', ' ');
      assert.match(text, /^Peak 3\.00 GiB of 8\.00 GiB at 1\.00 ms in device 2\./);
      assert.match(text, /reserved above it/);
      assert.deepEqual((await page.locator('h2.section').allInnerTexts()).map((one) => one.split(' h,')[0]), ['device 2', 'device 10']);
      const box = await page.locator('.u-over').first().boundingBox();
      await page.mouse.move(box.x + box.width - 5, box.y + 40);
      await page.waitForFunction(() => /allocated/.test(document.querySelector('.tooltip')?.textContent ?? ''));
      assert.equal((await page.locator('.tooltip').innerText()).replaceAll('\u202f', ' '), '2.00 ms: 1.00 GiB allocated, 2.00 GiB reserved');
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
    } finally {
      await context.close();
    }
  },
};
