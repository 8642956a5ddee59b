/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a server or a tab in an hour of work: killed and started again, slow, a run written
 * anew, ten tabs, hidden tabs, clocks that differ, back and forward. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLES = fileURLToPath(new URL('../samples', import.meta.url));
const profileOf = (run) =>
  join(
    SAMPLES,
    run,
    readdirSync(join(SAMPLES, run), { recursive: true })
      .map(String)
      .find((name) => name.endsWith('.xplane.pb')),
  );
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function withFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), 'jviewd-robust-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/* The tab is hidden, or seen again, for all that the page can tell. */
const hide = (page, hidden) =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { value: is, configurable: true });
    Object.defineProperty(document, 'visibilityState', { value: is ? 'hidden' : 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

/* Streams that the server holds open now. */
const streams = async (url) =>
  Number(/^jviewd_event_streams (\d+)$/m.exec(await fetch(`${url}metrics`).then((reply) => reply.text()))[1]);

export const tests = {
  'a server that is killed and started again: the page says so and goes on by itself': async ({ browser }) =>
    withFolder(async (folder) => {
      const [profiles, cache] = ['profiles', 'cache'].map((name) => join(folder, name));
      mkdirSync(profiles);
      cpSync(join(SAMPLES, 'step_500'), join(profiles, 'step_500'), { recursive: true });
      const first = await startOwn([profiles], ready, { keep: cache });
      const { page, context } = await openPage(browser, first.url);
      let second;
      try {
        await page.goto(`${first.url}?run=step_500&view=ops`);
        await settle(page);
        await first.kill();
        const said = page.getByRole('alert').filter({ hasText: 'No answer from the server since' });
        await said.waitFor({ timeout: 10_000 });
        assert.ok((await page.locator('.table-row').count()) > 10, 'what is seen stays');
        cpSync(join(SAMPLES, 'step_1000'), join(profiles, 'step_1000'), { recursive: true });
        second = await startOwn([profiles], ready, { keep: cache, port: new URL(first.url).port });
        await said.waitFor({ state: 'detached', timeout: 20_000 });
        await page.keyboard.press('g');
        await page.keyboard.press('g');
        await page.locator('.table-row', { hasText: 'step_1000' }).waitFor();
        await eventually('the stream is open again', async () => (await streams(second.url)) === 1);
      } finally {
        await context.close();
        second?.stop();
      }
    }),

  'a slow server is told, and its answer comes': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      await page.clock.install();
      let answer;
      const held = new Promise((resolve) => (answer = resolve));
      await page.route('**/api/top?**', async (route) => (await held, route.continue()));
      await page.goto(`${url}?run=step_1000&view=ops`);
      await page.locator('h1').waitFor();
      await page.clock.runFor(12_000);
      await page.getByText(/The server has been working on .* for 1\d/).waitFor();
      answer();
      await page.locator('.table-row').first().waitFor();
      await page.clock.runFor(1000);
      assert.equal(await page.getByText('The server has been working').count(), 0);
    } finally {
      await context.close();
    }
  },

  'a run that is written anew while it is open shows what it holds now': async ({ browser }) =>
    withFolder(async (folder) => {
      const target = join(folder, 'run', 'host.xplane.pb');
      mkdirSync(join(folder, 'run'));
      cpSync(profileOf('step_500'), target);
      const server = await startOwn([folder], ready);
      const { page, context, complaints } = await openPage(browser, server.url);
      try {
        await page.goto(`${server.url}?run=latest&view=timeline`);
        await settle(page);
        const slices = () =>
          fetch(`${server.url}api/runs`)
            .then((reply) => reply.json())
            .then((list) => list.runs[0].slice_count);
        const [before, facts] = [await slices(), await page.locator('.facts').first().innerText()];
        cpSync(profileOf('step_1500'), target);
        await eventually('indexed again', async () => (await slices()) !== before);
        await page.waitForFunction((old) => document.querySelector('.facts').innerText !== old, facts, {
          timeout: 10_000,
        });
        await settle(page);
        assert.deepEqual(complaints, [], 'nothing was asked of what it held before');
      } finally {
        await context.close();
        server.stop();
      }
    }),

  'ten tabs share one stream; it moves when its tab goes; hidden ones hold none': async ({ browser }) =>
    withFolder(async (folder) => {
      cpSync(join(SAMPLES, 'step_500'), join(folder, 'step_500'), { recursive: true });
      const server = await startOwn([folder], ready);
      const { page, context } = await openPage(browser, server.url);
      const pages = [page];
      try {
        while (pages.length < 10) pages.push(await context.newPage());
        await Promise.all(pages.map((one) => one.goto(`${server.url}?view=runs`)));
        await Promise.all(pages.map((one) => one.locator('.table-row').first().waitFor()));
        await eventually('one stream', async () => (await streams(server.url)) === 1);
        cpSync(join(SAMPLES, 'step_1000'), join(folder, 'step_1000'), { recursive: true });
        await Promise.all(
          pages.map((one) => one.getByRole('button', { name: '1 new run' }).waitFor({ timeout: 15_000 })),
        );
        await pages.shift().close();
        await eventually('the stream has moved', async () => (await streams(server.url)) === 1);
        await Promise.all(pages.map((one) => hide(one, true)));
        /* The server notices a client that left when it next has something to say. */
        await eventually('no stream', async () => (await streams(server.url)) === 0);
        cpSync(join(SAMPLES, 'step_1500'), join(folder, 'step_1500'), { recursive: true });
        await sleep(300);
        await hide(pages[4], false);
        await pages[4].getByRole('button', { name: '2 new runs' }).waitFor({ timeout: 15_000 });
      } finally {
        await context.close();
        server.stop();
      }
    }),

  "ages are by the server's clock": async ({ browser, url }) => {
    const ages = [];
    for (const ahead of [0, 3 * 86_400_000]) {
      const { page, context } = await openPage(browser, url);
      await page.addInitScript((ms) => {
        const [now, Real] = [Date.now, Date];
        globalThis.Date = class extends Real {
          constructor(...given) {
            if (given.length === 0) super(now() + ms);
            else super(...given);
          }
          static now = () => now() + ms;
        };
      }, ahead);
      await page.goto(`${url}?view=runs`);
      await settle(page);
      ages.push(await page.locator('.table-row').locator('[role=gridcell]:nth-child(2)').allInnerTexts());
      await context.close();
    }
    assert.deepEqual(ages[1], ages[0]);
  },

  'back and forward lead through views, runs and ranges': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      const at = () =>
        Object.fromEntries(
          [...new URL(page.url()).searchParams].filter(([key]) => ['run', 'view', 'zoom'].includes(key)),
        );
      await page.goto(`${url}?run=step_1000&view=overview`);
      await settle(page);
      const seen = [at()];
      for (const keys of [
        ['g', 't'],
        ['g', 'p'],
        ['g', 'f'],
      ]) {
        for (const key of keys) await page.keyboard.press(key);
        await settle(page);
        seen.push(at());
      }
      const box = await page.locator('.flame').boundingBox();
      await page.mouse.click(box.x + 40, box.y + 50);
      await page.waitForFunction(() => location.search.includes('zoom='));
      seen.push(at());
      for (let back = seen.length - 2; back >= 0; back--) {
        await page.goBack();
        await eventually(
          `back to ${JSON.stringify(seen[back])}`,
          () => JSON.stringify(at()) === JSON.stringify(seen[back]),
        );
      }
      await page.getByText('A step takes').waitFor();
      for (let forward = 1; forward < seen.length; forward++) {
        await page.goForward();
        await eventually(
          `forward to ${JSON.stringify(seen[forward])}`,
          () => JSON.stringify(at()) === JSON.stringify(seen[forward]),
        );
      }
      await page.locator('.flame').waitFor();
    } finally {
      await context.close();
    }
  },
};
