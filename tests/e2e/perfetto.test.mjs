/* SPDX-License-Identifier: Apache-2.0 */
/* The hand-over to Perfetto, to a stand-in at the shipped address: who asks, who answers, what
 * arrives; and what is said when nobody answers. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, createServer as createTunnel } from 'node:net';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const STAND_IN = `<!doctype html><title>stand-in</title><p id="got">nothing</p><script>
addEventListener('message', async (event) => {
  if (event.data === 'PING') return event.source.postMessage('PONG', event.origin);
  const { buffer, title } = event.data.perfetto;
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream('gzip'));
  const trace = JSON.parse(await new Response(stream).text());
  const events = trace.traceEvents ?? trace;
  const got = { title, bytes: buffer.byteLength, events: events.length, fromOpener: event.source === opener };
  document.getElementById('got').textContent = JSON.stringify(got);
});
</script>`;

export const tests = {
  'the whole run arrives at ui.perfetto.dev, and nothing else leaves': async ({ browser, url }) => {
    const { page, context, foreign, complaints } = await openPage(browser, url);
    await context.route('https://ui.perfetto.dev/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: STAND_IN }),
    );
    try {
      await page.goto(`${url}?run=step_1000`);
      await settle(page);
      const opened = context.waitForEvent('page');
      await page.getByRole('button', { name: 'Open in Perfetto' }).click();
      const popup = await opened;
      await popup.waitForFunction(() => document.getElementById('got')?.textContent !== 'nothing', null, {
        timeout: 15_000,
      });
      const got = JSON.parse(await popup.locator('#got').innerText());
      const run = await fetch(`${url}api/run?run=step_1000`).then((reply) => reply.json());
      assert.equal(got.title, 'step_1000');
      assert.equal(got.fromOpener, true);
      assert.ok(got.events >= run.slice_count, `${got.events} events of ${run.slice_count} slices`);
      assert.deepEqual(foreign, []);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  },

  'another target is taken from the settings; silence is told': async ({ browser, url }) => {
    const silent = createServer((_request, reply) => reply.setHeader('content-type', 'text/html').end('<p>silent</p>'));
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const target = `http://127.0.0.1:${silent.address().port}`;
    const { page, context } = await openPage(browser, url, { allow: [target] });
    try {
      await context.addInitScript((perfetto) => localStorage.setItem('jviewd', JSON.stringify({ perfetto })), target);
      await page.goto(`${url}?run=step_1000`);
      await settle(page);
      const opened = context.waitForEvent('page');
      await page.getByRole('button', { name: 'Open in Perfetto' }).click();
      const popup = await opened;
      await popup.waitForLoadState();
      assert.ok(popup.url().startsWith(target));
      await popup.close();
      await page.getByText('did not answer').waitFor({ timeout: 25_000 });
      assert.equal(await page.getByRole('link', { name: 'Download' }).count(), 1);
    } finally {
      await context.close();
      silent.close();
    }
  },

  "a Perfetto of one's own, below a path, slow to wake, on another origin, through a tunnel on another port": async ({
    browser,
    url,
  }) => {
    /* As ui.perfetto.dev: it listens only after a while, answers PING by PONG, takes the first buffer. */
    const own = createServer((_request, reply) =>
      reply
        .setHeader('content-type', 'text/html')
        .end(STAND_IN.replace('<script>', '<script>setTimeout(() => {').replace('</script>', '}, 1500);</script>')),
    );
    await new Promise((resolve) => own.listen(0, '127.0.0.1', resolve));
    const target = `http://127.0.0.1:${own.address().port}/perfetto`;
    const tunnel = createTunnel((taken) => {
      const through = connect(Number(new URL(url).port), '127.0.0.1');
      taken.pipe(through).pipe(taken);
      for (const one of [taken, through]) one.on('error', () => (taken.destroy(), through.destroy()));
    });
    await new Promise((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
    const near = `http://localhost:${tunnel.address().port}/`;
    const { page, context, foreign, complaints } = await openPage(browser, near, { allow: [target] });
    try {
      await context.addInitScript((perfetto) => localStorage.setItem('jviewd', JSON.stringify({ perfetto })), target);
      const { start_ps: start, end_ps: end } = (
        await fetch(`${url}api/steps?run=step_1000`).then((reply) => reply.json())
      ).rows[1];
      await page.goto(`${near}?run=step_1000&view=timeline&start_ps=${start}&end_ps=${end}`);
      await settle(page);
      const opened = context.waitForEvent('page');
      await page.getByRole('button', { name: 'Open in Perfetto' }).click();
      const popup = await opened;
      await popup.waitForFunction(() => document.getElementById('got')?.textContent !== 'nothing', null, {
        timeout: 15_000,
      });
      const got = JSON.parse(await popup.locator('#got').innerText());
      const run = await fetch(`${url}api/run?run=step_1000`).then((reply) => reply.json());
      assert.equal(got.fromOpener, true);
      assert.ok(
        got.events > 20 && got.events < run.slice_count,
        `${got.events} events of the range, ${run.slice_count} slices in all`,
      );
      assert.deepEqual(foreign, []);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
      own.close();
      tunnel.close();
    }
  },

  'a browser that opens no tabs: said at once, with the download': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      await page.addInitScript(() => (globalThis.open = () => null));
      await page.goto(`${url}?run=step_1000`);
      await settle(page);
      await page.getByRole('button', { name: 'Open in Perfetto' }).click();
      const bar = page.locator('.bar', { hasText: 'The browser blocked the new tab' });
      await bar.waitFor({ timeout: 2000 });
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        bar.getByRole('link', { name: 'Download' }).click(),
      ]);
      assert.equal(saved.suggestedFilename(), 'step_1000.json.gz');
    } finally {
      await context.close();
    }
  },

  '--ui perfetto opens the browser at the newest run, ready to hand over': async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jviewd-desk-'));
    const said = join(folder, 'said');
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" >'${said}'\n`);
    chmodSync(join(folder, 'xdg-open'), 0o755);
    const samples = fileURLToPath(new URL('../samples/step_500', import.meta.url));
    const server = await startOwn([samples], ready, { ui: 'perfetto', path: `${folder}:${process.env.PATH}` });
    try {
      for (let turn = 0; turn < 100 && !existsSync(said); turn++)
        await new Promise((resolve) => setTimeout(resolve, 50));
      const { searchParams, origin } = new URL(readFileSync(said, 'utf8'));
      assert.equal(origin, new URL(server.url).origin);
      assert.deepEqual(Object.fromEntries(searchParams), { run: 'latest', view: 'perfetto' });
    } finally {
      server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
