/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: written of a run and of a range, seen on the ruler and in the list, removed; a short link returns. */
import assert from 'node:assert/strict';
import { openPage, settle } from './browser.mjs';

const HOSTILE = '<img src=x onerror=alert(1)> cold cache';

async function act(page, words) {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(words);
  await page.keyboard.press('Enter');
}

async function write(page, text) {
  await act(page, 'write a note');
  await page.getByRole('textbox', { name: 'Note' }).fill(text);
  await page.getByRole('button', { name: 'Write', exact: true }).click();
}

export const tests = {
  'a note and a tag of a run, a note of a range, and away with them': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000`);
      await settle(page);
      assert.equal(await page.getByRole('region', { name: 'Notes' }).count(), 0, 'a bar without notes');
      await write(page, HOSTILE);
      const bar = page.getByRole('region', { name: 'Notes' });
      await bar.getByText(HOSTILE).waitFor();
      await write(page, '#pinned');
      await bar.getByText('pinned', { exact: true }).waitFor();

      await page.goto(`${url}?run=step_1000&view=timeline&start_ps=20000000000&end_ps=40000000000`);
      await settle(page);
      await write(page, 'slow here');
      await page.getByRole('button', { name: 'Note slow here', exact: true }).waitFor();
      const kept = (await fetch(`${url}api/notes?run=step_1000`).then((reply) => reply.json())).rows;
      assert.deepEqual(
        kept.map((note) => [note.text, note.start_ps, note.end_ps]),
        [
          [HOSTILE, null, null],
          ['slow here', 20000000000, 40000000000],
        ],
      );

      await page.goto(`${url}?view=runs`);
      await settle(page);
      const row = page.locator('.table-row', { hasText: 'step_1000' });
      await row.locator('.tag', { hasText: 'pinned' }).waitFor();
      assert.equal(
        await page.locator('.table-row', { hasText: 'step_500' }).locator('.tag').count(),
        0,
        'a tag at another run',
      );

      await page.goto(`${url}?run=step_1000`);
      await settle(page);
      await page.getByRole('button', { name: 'Remove the tag pinned' }).click();
      await page.getByRole('button', { name: 'Remove the note slow here' }).click();
      await page.getByRole('button', { name: `Remove the note ${HOSTILE}` }).click();
      await page.getByRole('region', { name: 'Notes' }).waitFor({ state: 'detached' });
      assert.deepEqual((await fetch(`${url}api/notes`).then((reply) => reply.json())).rows, []);
      assert.deepEqual(
        complaints.filter((one) => !/status of (404|503)/.test(one)),
        [],
        'the console',
      );
    } finally {
      await context.close();
    }
  },

  'a short link returns to the view': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      const made = await fetch(`${url}api/links`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ address: '?run=step_500&view=flame' }),
      }).then((reply) => reply.json());
      await page.goto(url + made.path);
      await settle(page);
      assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { run: 'step_500', view: 'flame' });
    } finally {
      await context.close();
    }
  },
};
