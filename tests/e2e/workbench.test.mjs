/* SPDX-License-Identifier: Apache-2.0 */
/* The runs as a workbench, and what every table can: units, groups, words of columns, type-ahead,
 * copies, a file of what is shown, and as many rows as there are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { address, changeAnswers, json, openPage, settle, until } from './browser.mjs';

function at(query, body, options = {}) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url, options);
    try {
      await opened.page.goto(url + query);
      await settle(opened.page);
      await body({ ...opened, url });
      assert.deepEqual(opened.complaints, [], 'the console');
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
    } finally {
      await opened.context.close();
    }
  };
}

/* The list as it would be with `runs` more of a series, the last three slower. */
async function withSeries(page, count) {
  await page.route('**/api/events', (route) => route.abort());
  await changeAnswers(page, '**/api/runs?**', (list) => {
    const [one] = list.runs;
    const more = Array.from({ length: count }, (_, index) => ({
      ...one,
      id: `r${index}`,
      name: `train_${index * 100}`,
      step_median_ps: index < count - 3 ? 20e9 : 80e9,
    }));
    return { ...list, runs: [...more, ...list.runs], row_count: list.row_count + count, next: null };
  });
}

export const tests = {
  'a series of runs has its trend, a facet, a range of numbers, and a line in its group': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      await withSeries(page, 12);
      await page.goto(`${url}?view=runs`);
      await settle(page);
      const trend = page.getByRole('group', { name: 'Step time of train_*' });
      assert.equal(await trend.locator('circle').count(), 12);
      assert.match(
        (await trend.innerText().catch(() => trend.textContent())).replaceAll('\u202f', ' '),
        /80\.0 ms.*20\.0 ms/s,
      );
      assert.equal(
        new URL(await trend.locator('a').last().getAttribute('href'), url).searchParams.get('run'),
        'train_1100',
      );
      await page.locator('.facet-value', { hasText: 'train_*' }).click();
      await until(
        page,
        'the series',
        async (now) => now.q === 'name~train_*' && (await page.locator('.table-row').count()) === 12,
      );
      const step = page.locator('.facet-head', { hasText: 'step' });
      if ((await step.getAttribute('aria-expanded')) === 'false') await step.click();
      const range = page.locator('.facet-value').filter({ hasText: /to/ }).last();
      await range.click();
      await until(
        page,
        'fewer',
        async (now) => /step=\d+\.\.\d+/.test(now.q ?? '') && (await page.locator('.table-row').count()) < 12,
      );
      await range.click();
      await page
        .locator('label', { hasText: /^group/ })
        .locator('select')
        .selectOption('name');
      await until(
        page,
        'one group',
        async (now) => now.group === 'name' && (await page.locator('.table-row.group').count()) === 1,
      );
      assert.equal(await page.getByRole('img', { name: /12 step times, from 20.0.ms to 80.0.ms/ }).count(), 1);
    } finally {
      await context.close();
    }
  },

  'words of columns filter, a unit is chosen for all, both in the address': at(
    '?run=step_1000&view=ops',
    async ({ page, url }) => {
      const all = await json(url, 'api/top?run=step_1000&limit=5000&step=counted');
      const expected = all.rows.filter((row) => row.kind === 'compute' && /dot/.test(row.name)).length;
      await page.locator('.filter input').fill('kind=compute name~dot');
      await until(
        page,
        `${expected} ops`,
        async (now) =>
          now.q === 'kind=compute name~dot' &&
          (await page.locator('.toolbar').innerText()).includes(`${expected} of ${all.row_count}`),
      );
      const first = all.rows.find((row) => row.kind === 'compute' && /dot/.test(row.name));
      await page.getByLabel('unit').selectOption('ns');
      await until(
        page,
        'nanoseconds',
        async (now) =>
          now.units === 'ns' && (await page.getByRole('columnheader', { name: 'self (ns)' }).count()) === 1,
      );
      const cells = await page.locator('.table-row').first().innerText();
      assert.ok(
        cells.replaceAll('\u202f', '').includes((first.self_ps / 1e3).toFixed(1)),
        `${first.self_ps} in ${cells}`,
      );
      await page.reload();
      await settle(page);
      assert.equal(await page.getByLabel('unit').inputValue(), 'ns');
    },
  ),

  'steps sort by what the server cannot, and by two columns': at('?run=step_1000&view=steps', async ({ page, url }) => {
    const { rows } = await json(url, 'api/steps?run=step_1000');
    const compute = (row) => row.breakdown.find((part) => part.kind === 'compute').self_ps;
    await page.getByRole('button', { name: /^compute/ }).click();
    await until(page, 'by compute', (now) => now.sort === '-compute');
    const told = await page.locator('.table-row > :first-child').allInnerTexts();
    assert.deepEqual(
      told,
      [...rows].sort((a, b) => compute(b) - compute(a)).map((row) => String(row.step)),
    );
    await page.getByRole('button', { name: /^time/ }).click({ modifiers: ['Shift'] });
    await until(page, 'two', (now) => now.sort === '-compute,-dur_ps');
  }),

  "' and letters go to a name": at('?run=step_1000&view=ops&sort=name', async ({ page }) => {
    const names = await page.locator('.table-row > :first-child').allInnerTexts();
    const wanted = names.findIndex((name) => name.startsWith('con'));
    assert.ok(wanted > 1, names.join());
    await page.locator('.table-row').first().focus();
    await page.keyboard.type("'con");
    await until(
      page,
      'the first that begins so',
      async () => (await page.evaluate(() => document.activeElement?.getAttribute('data-index'))) === String(wanted),
    );
    assert.equal(address(page).view, 'ops');
    assert.equal(await page.getByRole('dialog').count(), 0, 'C compares only where nobody types a name');
  }),

  'what is shown becomes a file, and Markdown': at('?run=step_1000&view=ops&q=dot', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const shown = await page.locator('.table-row:not(.rest)').count();
    await page.getByRole('button', { name: 'copy', exact: true }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'to a CSV file' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\r\n');
    assert.equal(lines.length, shown + 1);
    assert.match(lines[0], /^name,scope,/);
    await page.getByRole('button', { name: 'copy', exact: true }).click();
    await page.getByRole('menuitem', { name: 'as Markdown' }).click();
    await page.getByText(`${shown} rows are copied as Markdown.`).waitFor();
    assert.equal((await page.evaluate(() => navigator.clipboard.readText())).split('\n').length, shown + 2);
  }),

  'slices come by pages as they come into sight, to the last': at(
    '?run=step_1000&view=timeline',
    async ({ page, url }) => {
      const { row_count: all } = await json(url, 'api/slices?run=step_1000&limit=1');
      assert.ok(all > 1500, 'more than two pages');
      await page.getByRole('tab', { name: 'Slices' }).click();
      await page.locator('.lower .table-row:not(.pending)').first().waitFor();
      const asked = [];
      page.on(
        'request',
        (request) =>
          /api\/slices.*cursor/.test(request.url()) && asked.push(new URL(request.url()).searchParams.get('cursor')),
      );
      await page.locator('.lower .table').evaluate((table) => (table.scrollTop = table.scrollHeight));
      await until(
        page,
        'the last slice',
        async () => (await page.locator(`.lower .table-row:not(.pending)[aria-rowindex="${all + 1}"]`).count()) === 1,
      );
      assert.ok(asked.length <= 2, `only what is seen is asked for: ${asked}`);
      const shortest = await json(url, `api/slices?run=step_1000&sort=-dur_ps&limit=1&cursor=n${all - 1}`);
      assert.ok(
        (await page.locator(`.lower [aria-rowindex="${all + 1}"]`).innerText()).includes(shortest.rows[0].name),
      );
    },
  ),
};
