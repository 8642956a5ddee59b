/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL page: a query is typed, run, shown, drawn, kept and sent as a link; an error points at its place. */
import assert from 'node:assert/strict';
import { assertAccessible } from './axe.mjs';
import { openPage, settle } from './browser.mjs';

const words = async (page, where) => (await page.locator(where).innerText()).replaceAll('\u202f', ' ');

export const tests = {
  'sql: rows, chart, link, kept queries, errors': async ({ browser, url }) => {
    const { page, context, complaints } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=sql`);
      await settle(page);
      await page.locator('.sql-tables summary', { hasText: /^slices$/ }).click();
      assert.match(await words(page, '.sql-tables details[open]'), /start_ps, end_ps, dur_ps, self_ps/);
      const field = page.getByLabel('Query', { exact: true });
      await page.locator('.sql-main', { hasText: '20 rows' }).waitFor(); // of the costliest ops, unasked
      await field.fill(
        'select name, count(*) as count, sum(dur_ps) as total_ps from slices ' +
          'group by name order by 3 desc limit 4',
      );
      await field.press('Control+Enter');
      await page.locator('.sql-main', { hasText: /4 rows/ }).waitFor();
      await settle(page);
      assert.match(await words(page, '.sql-main'), /4 rows, [\d ]+ looked at/);
      assert.match(await words(page, '.sql-main'), /train/);
      assert.equal(await page.locator('.sql-bars li').count(), 4);
      await assertAccessible(page);
      assert.match(new URL(page.url()).searchParams.get('sql'), /^select name, count/);
      await page.getByRole('button', { name: 'Keep', exact: true }).click();
      await page.reload();
      await settle(page);
      await page.locator('.sql-bars li').first().waitFor(); // the link ran it again
      assert.equal(await page.locator('.sql-main .toolbar select').nth(1).locator('option').count(), 2);
      await field.fill('select step, dur_ps from steps');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.locator('.sql-line').waitFor();
      await field.fill('select name,\n  nme from slices');
      await field.press('Control+Enter');
      assert.match(await words(page, '.sql-error'), /Line 2, column 3: no such column: nme; the nearest is name\./);
      await page.getByRole('button', { name: 'Show the place' }).click();
      assert.equal(await field.evaluate((one) => one.value.slice(one.selectionStart, one.selectionStart + 3)), 'nme');
      await field.fill('drop table slices');
      await field.press('Control+Enter');
      await page.locator('.sql-error', { hasText: 'only SELECT' }).waitFor();
      assert.deepEqual(
        complaints.filter((text) => !text.includes('400')),
        [],
      );
    } finally {
      await context.close();
    }
  },
};
