/* SPDX-License-Identifier: Apache-2.0 */
/* The page that stands alone: from disk, offline, with the server's numbers. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAccessible } from './axe.mjs';
import { eventually } from './browser.mjs';

const plain = (text) => text.replace(/[\s\u00a0\u202f]+/g, ' ').trim();

async function opened({ browser, url }, run, body) {
  const directory = mkdtempSync(join(tmpdir(), 'jview-bundle-'));
  const file = join(directory, 'run.html');
  writeFileSync(file, Buffer.from(await (await fetch(`${url}api/bundle?run=${run}&html=yes`)).arrayBuffer()));
  assert.ok(statSync(file).size < 5_000_000, `${statSync(file).size} bytes`);
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    offline: true,
    locale: 'en-GB',
  });
  const complaints = [];
  try {
    const page = await context.newPage();
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on(
      'request',
      (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(`it asks ${request.url()}`),
    );
    await page.goto(`file://${file}`);
    await body(page, (path) => fetch(`${url}${path}`).then((reply) => reply.json()));
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    rmSync(directory, { recursive: true });
  }
}

/* Pixels of a canvas that are not its background. */
const painted = (page, where) =>
  page
    .locator(`${where} canvas`)
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const first = data.slice(0, 3).join();
      let count = 0;
      for (let at = 0; at < data.length; at += 4) count += data.slice(at, at + 3).join() === first ? 0 : 1;
      return count / (data.length / 4);
    });

export const tests = {
  'a run as one page answers from disk what the server answers': (lane) =>
    opened(lane, 'step_1000', async (page, ask) => {
      const overview = await ask('api/overview?run=step_1000');
      await page.locator('.overview-columns').waitFor();
      const words = plain(await page.locator('main').innerText());
      assert.ok(words.includes(plain(overview.sentence).split(';')[0]), `${overview.sentence}: ${words.slice(0, 200)}`);
      const leads = await page
        .locator('main a')
        .evaluateAll((links) =>
          links.map((link) => [...new URL(link.getAttribute('href'), 'http://x').searchParams.keys()]).flat(),
        );
      assert.deepEqual(
        leads.filter((key) =>
          ['step', 'name', 'kind', 'host', 'device', 'slice', 'start_ps', 'scope', 'a'].includes(key),
        ),
        [],
        'nothing leads to what only a server answers',
      );
      await assertAccessible(page);
      await page.getByRole('link', { name: 'Ops' }).click();
      const top = await ask('api/top?run=step_1000&by=op&limit=1');
      const first = page.locator('.table-row').first();
      await first.waitFor();
      const cells = plain(await first.innerText());
      assert.ok(cells.includes(top.rows[0].name) && cells.includes((top.rows[0].self_ps / 1e9).toFixed(2)), cells);
      await page.getByRole('button', { name: /^op\b/ }).first().click();
      await page.getByRole('link', { name: 'Flame' }).click();
      await page.getByText('of device time').first().waitFor();
      await page.getByRole('link', { name: 'Timeline' }).click();
      await page.locator('.tracks-canvas').first().waitFor();
      await assertAccessible(page);
      await eventually('slices are drawn', async () => (await painted(page, '.tracks-stick')) > 0.05);
      await eventually('the whole run stands above them', async () => (await painted(page, '.minimap')) > 0.05);
      assert.match(await page.locator('.reduced').innerText(), /reduced: slices shorter than/);
    }),
};
