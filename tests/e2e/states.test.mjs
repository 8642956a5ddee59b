/* Empty, live, lost, hostile: the states of a page that nobody plans for, each with a server of its
 * own. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLE = fileURLToPath(new URL('../samples/step_500', import.meta.url));
const LONG = 'long_'.repeat(400);
const NAMES = ['<img src=x onerror=alert(1)>', '', '\u202egnp.exe', 'tab\there', LONG, '\ud83d\ude00', '</script><script>alert(1)</script>', '__proto__', "';--"];

function hostileTrace() {
  const events = NAMES.map((name, index) => ({ ph: 'X', pid: 1, tid: 1 + (index % 2), ts: index * 100, dur: 80, name, args: { [name || 'empty']: name } }));
  events.push({ ph: 'M', pid: 1, name: 'process_name', args: { name: '<b>process</b>' } });
  return JSON.stringify({ traceEvents: events });
}

function withFolder(body) {
  return async ({ browser }) => {
    const folder = mkdtempSync(join(tmpdir(), 'jviewd-states-'));
    try {
      await body(browser, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

async function on(browser, url, query, body) {
  const opened = await openPage(browser, url);
  try {
    await opened.page.goto(url + query);
    await body(opened.page, opened);
    assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
  } finally {
    await opened.context.close();
  }
}

export const tests = {
  'an empty directory says what it waits for, and fills live': withFolder(async (browser, folder) => {
    const server = await startOwn([folder]);
    try {
      await on(browser, server.url, '', async (page) => {
        await page.getByText(/No profiles .* yet/).waitFor();
        cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
        await page.getByText('A step takes').waitFor({ timeout: 20_000 });
      });
    } finally {
      server.stop();
    }
  }),

  'a lost server is told, what is seen stays': withFolder(async (browser, folder) => {
    cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
    const server = await startOwn([folder], ready);
    await on(browser, server.url, '?run=step_500&view=ops', async (page) => {
      await settle(page);
      server.stop();
      await page.getByRole('alert').filter({ hasText: 'No answer from the server since' }).waitFor({ timeout: 20_000 });
      assert.ok((await page.locator('.table-row').count()) > 10);
    });
  }),

  'names are hostile': withFolder(async (browser, folder) => {
    mkdirSync(join(folder, 'a & b'), { recursive: true });
    writeFileSync(join(folder, 'a & b', '<i>x.trace.json'), hostileTrace());
    const server = await startOwn([folder], ready);
    try {
      const { runs } = await fetch(`${server.url}api/runs`).then((reply) => reply.json());
      const run = encodeURIComponent(runs[0].name);
      for (const view of ['overview', 'timeline', 'ops&by=name', 'flame&by=track', 'files'])
        await on(browser, server.url, `?run=${run}&view=${view}`, async (page, { complaints }) => {
          await settle(page);
          assert.deepEqual(complaints, [], view);
          assert.equal(await page.locator('main img, main b, main i').count(), 0, view);
          if (!view.startsWith('ops')) return;
          const names = await page.locator('.table-row [role=gridcell]:first-child').allInnerTexts();
          assert.ok(names.includes('(no name)'), 'an empty name has words');
          assert.ok(names.includes('<img src=x onerror=alert(1)>'));
          assert.ok(names.some((name) => name.includes('\ufffd')), 'controls are replaced');
          assert.ok(names.every((name) => name.length <= 512), 'long names are cut');
        });
    } finally {
      server.stop();
    }
  }),

  'a file that is no profile fails alone, with its reason': withFolder(async (browser, folder) => {
    cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
    writeFileSync(join(folder, 'broken.xplane.pb'), Buffer.from('0a', 'hex'));
    const server = await startOwn([folder], ready);
    try {
      await on(browser, server.url, '?view=runs', async (page) => {
        await settle(page);
        const rows = await page.locator('.table-row').allInnerTexts();
        assert.equal(rows.length, 2);
        assert.ok(rows.some((row) => row.includes('step_500') && /\d\.\d/.test(row)), 'the other run is whole');
        const reason = await page.locator('.table-row', { hasText: 'broken' }).locator('.error').innerText();
        assert.ok(reason.length > 10, reason);
      });
    } finally {
      server.stop();
    }
  }),
};
