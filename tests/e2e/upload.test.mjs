/* SPDX-License-Identifier: Apache-2.0 */
/* A file dropped on the page or picked is opened; what is refused says why; what was brought goes again. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLES = fileURLToPath(new URL('../samples', import.meta.url));
const inside = (folder) =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .find((name) => name.endsWith('.xplane.pb'));
const BROUGHT = join(SAMPLES, 'step_1000', inside(join(SAMPLES, 'step_1000')));
const HOSTILE = '<img src=x onerror=alert(1)>.xplane.pb';

function on(flags, query, body) {
  return async ({ browser }) => {
    const server = await startOwn([join(SAMPLES, 'step_500'), ...flags], ready);
    const opened = await openPage(browser, server.url);
    try {
      await opened.page.goto(server.url + query);
      await settle(opened.page);
      await body({ ...opened, url: server.url });
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
      server.stop();
    }
  };
}

/* What a hand does, in the page: files over it, then let go. */
async function drop(page, files, between = async () => undefined) {
  const transfer = await page.evaluateHandle(
    (all) => {
      const data = new DataTransfer();
      for (const { name, base64 } of all)
        data.items.add(
          new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name, {
            lastModified: 1.6e12,
          }),
        );
      return data;
    },
    files.map(({ name, bytes }) => ({ name, base64: bytes.toString('base64') })),
  );
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer });
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer });
  await between();
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
}

const runs = (url) =>
  fetch(`${url}api/runs`)
    .then((reply) => reply.json())
    .then((list) => list.runs);

export const tests = {
  'a file dropped on a run opens; it says that it was brought, and is deleted by two clicks': on(
    [],
    '?run=step_500&view=ops',
    async ({ page, url, complaints }) => {
      await drop(page, [{ name: HOSTILE, bytes: readFileSync(BROUGHT) }], async () => {
        await page.locator('.drop-target', { hasText: 'Drop to open' }).waitFor();
        await page.locator('.drop-target', { hasText: 'Up to 2.00 GiB' }).waitFor();
      });
      await page.waitForFunction(() => document.querySelector('h1')?.textContent.includes('onerror'));
      await settle(page);
      assert.equal(await page.locator('.drop-target').count(), 0);
      assert.equal(await page.locator('h1').innerText(), HOSTILE.replace('.xplane.pb', ''));
      assert.equal(await page.locator('h1 img').count(), 0, 'text, not markup');
      await page.getByText('A step takes').waitFor();
      const brought = (await runs(url)).find((run) => run.uploaded);
      assert.equal(brought.modified_at, '2020-09-13T12:26:40Z');
      await page.locator('.uploaded').getByRole('button', { name: 'delete' }).click();
      await page.getByRole('button', { name: 'delete for good' }).click();
      await page.waitForFunction(() => new URL(location.href).searchParams.get('view') === 'runs');
      assert.deepEqual(
        (await runs(url)).map((run) => run.name),
        ['step_500'],
      );
      assert.deepEqual(complaints, []);
    },
  ),

  'a folder dropped is one run: its files lie as they lay, what is no profile is left': on(
    [],
    '?run=step_500&view=ops',
    async ({ page, url, complaints }) => {
      const folder = join(mkdtempSync(join(tmpdir(), 'jviewd-folder-')), 'step_77');
      const session = join(folder, 'plugins/profile/09_30');
      mkdirSync(session, { recursive: true });
      for (const host of ['a', 'b']) copyFileSync(BROUGHT, join(session, `${host}.xplane.pb`));
      writeFileSync(join(folder, 'notes.txt'), 'hello');
      try {
        const hand = await page.context().newCDPSession(page);
        for (const type of ['dragEnter', 'dragOver', 'drop'])
          await hand.send('Input.dispatchDragEvent', {
            type,
            x: 600,
            y: 400,
            data: { items: [], files: [folder], dragOperationsMask: 1 },
          });
        await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'step_77');
        await eventually(
          'both files',
          async () => (await runs(url)).find((run) => run.name === 'step_77')?.file_count === 2,
        );
      } finally {
        rmSync(join(folder, '..'), { recursive: true }); // not before they have been read
      }
      const brought = (await runs(url)).find((run) => run.name === 'step_77');
      assert.deepEqual([brought.file_count, brought.dir, brought.uploaded], [2, 'step_77/plugins/profile/09_30', true]);
      assert.equal(await page.getByRole('alert').count(), 0, 'a text beside is no fault');
      assert.deepEqual(
        complaints.filter((line) => !line.includes('415')),
        [],
      );
    },
  ),

  'a file is picked from the list of runs and from the palette': on([], '?view=runs', async ({ page }) => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Open a file' }).click(),
    ]);
    await chooser.setFiles({ name: 'picked.xplane.pb', mimeType: '', buffer: readFileSync(BROUGHT) });
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'picked');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('open a file');
    const [again] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    await again.setFiles({ name: 'picked.xplane.pb', mimeType: '', buffer: readFileSync(BROUGHT) });
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'picked-2');
  }),

  'an empty directory offers an example, unless the server takes no files': async ({ browser }) => {
    for (const [flags, offers] of [
      [[], true],
      [['--upload-max', '0'], false],
    ]) {
      const folder = mkdtempSync(join(tmpdir(), 'jviewd-empty-'));
      const server = await startOwn([folder, ...flags]);
      const opened = await openPage(browser, server.url);
      try {
        await opened.page.goto(server.url);
        await opened.page.getByText(/No profiles .* yet/).waitFor();
        await settle(opened.page);
        const button = opened.page.getByRole('button', { name: 'Open an example' });
        assert.equal(await button.count(), offers ? 1 : 0);
        if (offers) {
          await button.click();
          await opened.page.waitForFunction(() => document.querySelector('h1')?.textContent === 'example');
          await opened.page.getByText('A step takes').waitFor();
        }
        assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
        assert.deepEqual(opened.complaints, []);
      } finally {
        await opened.context.close();
        server.stop();
        rmSync(folder, { recursive: true });
      }
    }
  },

  'what is no profile, or too large, is refused in words; the page stays': on(
    ['--upload-max', '100K'],
    '?run=step_500&view=ops',
    async ({ page, url }) => {
      await drop(page, [
        { name: 'notes.txt', bytes: Buffer.from('hello') },
        { name: 'large.xplane.pb', bytes: readFileSync(BROUGHT) },
      ]);
      const said = page.getByRole('alert');
      await said.filter({ hasText: 'large.xplane.pb' }).waitFor();
      const words = (await said.innerText()).replaceAll('\u202f', ' ');
      assert.match(words, /notes\.txt was not taken\. Text, not a profile/);
      assert.match(words, /large\.xplane\.pb was not taken\. It has 239 KiB; this server takes files up to 100 KiB/);
      assert.ok((await page.locator('.table-row').count()) > 10);
      assert.equal((await runs(url)).length, 1);
      await said.getByRole('button', { name: 'Close' }).click();
      assert.equal(await said.count(), 0);
    },
  ),

  'a server that takes no files says so while they hang over the page': on(
    ['--upload-max', '0'],
    '?run=step_500&view=ops',
    async ({ page, complaints }) => {
      await drop(page, [{ name: 'a.xplane.pb', bytes: Buffer.from('x') }], () =>
        page.locator('.drop-target', { hasText: '--upload-max 0' }).waitFor(),
      );
      await page.getByRole('alert').filter({ hasText: 'accepts no files' }).waitFor();
      assert.deepEqual(complaints, []);
    },
  ),
};
