/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two runs: tick two, read the sentence, sort, filter, swap, go into either, come back. */
import assert from 'node:assert/strict';
import { assertAccessible, violations } from './axe.mjs';
import { address, changeAnswers, eventually, json, openPage, settle, until, windowOf } from './browser.mjs';

const words = async (page) => (await page.locator('main').innerText()).replaceAll('\u202f', ' ');
const names = (page) => page.locator('.table-row [aria-colindex="1"]').allInnerTexts();

function at(query, body, options = {}) {
  return async ({ browser, url }) => {
    const opened = await openPage(browser, url, options);
    try {
      await opened.page.goto(url + query);
      await settle(opened.page);
      await body({ ...opened, url });
      assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
      assert.deepEqual(
        opened.complaints.filter((one) => !/status of (404|503)/.test(one)),
        [],
        'the console',
      );
    } finally {
      await opened.context.close();
    }
  };
}

export const tests = {
  'trend: a chart a metric, in the address; a point leads to its run, the table has the numbers': at(
    '?view=trend&metric=step_time;share_idle',
    async ({ page, url }) => {
      const charts = page.locator('.trend-picture');
      await charts.nth(1).waitFor();
      const { height: ofTwo } = await charts.first().boundingBox();
      await assertAccessible(page);
      assert.match(await page.title(), /^Trend of step time, share idle – jviewd$/);
      const told = await fetch(`${url}api/trend?metric=share_idle`).then((reply) => reply.json());
      const known = told.rows.filter((row) => row.value !== null);
      assert.equal(await charts.nth(1).locator('circle').count(), known.length);
      assert.deepEqual(
        (await names(page)).map((one) => one.trim()),
        told.rows.map((row) => row.name),
      );
      assert.deepEqual(
        [told.jumps.length, await page.getByRole('columnheader', { name: 'jump' }).count()],
        [0, 0],
        'no column for what no run has',
      );
      const first = page.locator('.table-row').first().getByRole('gridcell');
      assert.equal(await first.nth(1).innerText(), String(told.rows[0].step), 'a step is called by its number');
      await page.getByRole('button', { name: 'leave out step time' }).click();
      await settle(page);
      assert.equal(address(page).metric, 'share_idle');
      assert.ok((await charts.first().boundingBox()).height > 1.2 * ofTwo, 'one alone takes more of the window');
      await page.getByLabel('add a metric').selectOption('step_p95');
      await settle(page);
      assert.equal(address(page).metric, 'share_idle;step_p95');
      await charts.first().locator('a:not(.trend-jump)').first().click();
      await settle(page);
      assert.equal(address(page).run, known[0].name);
      assert.equal(address(page).view, undefined);
    },
  ),

  'a trend is of one series, and of all runs where that is asked': at('?view=trend', async ({ page, url }) => {
    const of = page.getByRole('combobox', { name: 'of', exact: true });
    await of.waitFor();
    assert.equal(await of.inputValue(), 'step_*');
    const asked = [];
    page.on('request', (request) => request.url().includes('api/trend') && asked.push(new URL(request.url())));
    await page.reload();
    await of.waitFor();
    await settle(page);
    assert.ok(
      asked.filter((one) => !one.searchParams.has('names')).every((one) => one.searchParams.get('like') === 'step_*'),
    );
    await of.selectOption('any');
    await until(page, 'all of them', (now) => now.like === 'any');
    await settle(page);
    await page.goto(`${url}?view=trend&like=none_*`);
    await page.getByText('No run is called none_*').waitFor();
    await page.getByRole('link', { name: 'The series with most runs' }).click();
    await until(page, 'the series again', async () => (await of.inputValue()) === 'step_*');
  }),

  'a shape that changed is the reason; what no row explains is last; the list states two times': at(
    '?view=compare&a=step_500&b=step_1000',
    async ({ page, url }) => {
      const sentence = (await page.locator('.sentence').innerText()).replaceAll('\u202f', ' ');
      const { rows } = await json(url, 'api/diff?a=step_500&b=step_1000&limit=10000');
      const [, name, before, after] = /; (\S+): (\S+) → (\S+)\.$/.exec(sentence);
      const row = rows.find((one) => one.name === name);
      assert.ok(row.a_shape.startsWith(before) && row.b_shape.startsWith(after) && before !== after, sentence);
      await page
        .locator('.table-row', { hasText: name })
        .getByText(`${before} → ${after}: longer each time`)
        .first()
        .waitFor();
      assert.equal(rows.at(-1).key, 'other');
      await page.goto(`${url}?view=runs`);
      const list = (await page.locator('.sentence').innerText()).replaceAll('\u202f', ' ');
      assert.match(list, /step_1500, takes [\d.]+ ms a step \(median\); step_1000 took [\d.]+ ms\.$/);
    },
  ),

  'tick two, compare: the older is A; the sentence is the server’s': at('?view=runs', async ({ page, url }) => {
    await page.getByRole('checkbox', { name: 'Compare step_1000' }).check();
    await page.getByRole('checkbox', { name: 'Compare step_500' }).check();
    await page.getByRole('button', { name: 'Compare 2' }).click();
    await settle(page);
    assert.deepEqual(address(page), { view: 'compare', a: 'step_500', b: 'step_1000' });
    const diff = await fetch(`${url}api/diff?a=step_500&b=step_1000`).then((reply) => reply.json());
    const text = await words(page);
    assert.ok(text.includes(diff.sentence), `${diff.sentence}\n${text.slice(0, 300)}`);
    assert.match(
      text,
      /The mean step goes from [\d.]+ ms to [\d.]+ ms, \+[\d.]+ ms \([\d.]+ times\); the rows sum to that\./,
    );
    assert.match(await page.title(), /^\+[\d.]+.ms · step_500 → step_1000 · Compare – jviewd$/);
    assert.deepEqual(
      (await names(page)).slice(0, 2).map((one) => one.trim()),
      diff.rows.slice(0, 2).map((row) => row.name),
    );
    await page.goBack();
    assert.equal(address(page).view, 'runs');
  }),

  'sorted, filtered, summed otherwise; the rest row adds up': at(
    '?view=compare&a=step_500&b=step_1000',
    async ({ page }) => {
      const before = await names(page);
      await page.getByRole('columnheader', { name: /^B / }).getByRole('button').click();
      await settle(page);
      assert.equal(address(page).sort, '-b_self_ps');
      assert.notDeepEqual(await names(page), before);
      await page.getByRole('searchbox', { name: 'Filter rows' }).fill('change>1ms');
      await page.locator('.table-row.rest:not(.sum)').waitFor();
      const sum = await page.locator('.table').evaluate((table) => {
        const cells = [
          ...table.querySelectorAll('.table-row:not(.sum) .change, .table-row.rest:not(.sum) [aria-colindex="3"]'),
        ].map((cell) => Number(cell.textContent.replace('−', '-').replace(/[+\u202f]/g, '')));
        return cells.reduce((all, one) => all + one, 0);
      });
      const told = Number(
        /\+([\d.]+)/.exec(await page.locator('.compare-kinds tbody tr:last-child td').first().innerText())[1],
      );
      assert.ok(Math.abs(sum - told) < 0.1, `${sum} is not ${told}`);
      await page.getByRole('searchbox', { name: 'Filter rows' }).fill('');
      await page.locator('.toolbar select').first().selectOption('scope');
      await settle(page);
      assert.equal(address(page).by, 'scope');
      assert.match((await names(page)).join('\n'), /mlp\/add_any/);
    },
  ),

  'swapped, every sign turns; back turns it again': at('?view=compare&a=step_500&b=step_1000', async ({ page }) => {
    assert.match(await words(page), /step_1000 is [\d.]+ ms a step slower than step_500/);
    assert.match(await page.locator('.table-row .change').first().innerText(), /^\+/);
    await page.getByRole('button', { name: 'Swap A and B' }).click();
    await settle(page);
    assert.match(await words(page), /step_500 is [\d.]+ ms a step faster than step_1000/);
    assert.match(await page.locator('.table-row .change').first().innerText(), /^−/);
    await page.goBack();
    await settle(page);
    assert.equal(address(page).a, 'step_500');
  }),

  'a row leads to its slices in either run, and back': at(
    '?view=compare&a=step_500&b=step_1000&q=dot.43',
    async ({ page }) => {
      const name = (await names(page))[0].trim();
      await page.locator('.table-row [aria-colindex="4"] a').first().click();
      await settle(page);
      assert.deepEqual([address(page).run, address(page).view], ['step_500', 'timeline']);
      assert.equal(address(page).a, undefined);
      await page.goBack();
      await settle(page);
      await page.locator('.table-row [aria-colindex="5"] a').first().click();
      await settle(page);
      assert.deepEqual([address(page).run, address(page).find], ['step_1000', `op:${name}`]);
    },
  ),

  'by scope both trees stand in one scale; a click zooms both, back returns': at(
    '?view=compare&a=step_500&b=step_1000&by=scope',
    async ({ page }) => {
      const width = async (side) =>
        (await page.locator('.icicle').nth(side).locator('div').first().boundingBox()).width;
      assert.ok((await width(0)) * 3 < (await width(1)), 'a is the shorter');
      assert.deepEqual(await violations(page), []);
      await page.locator('.icicle').nth(1).getByText('mlp', { exact: true }).first().click();
      await page.getByRole('navigation', { name: 'Zoomed to' }).waitFor();
      assert.match(address(page).zoom, /\/mlp$/);
      assert.match(await page.locator('.icicle').first().innerText(), /^A\s+mlp/);
      await page.goBack();
      assert.equal(await page.getByRole('navigation', { name: 'Zoomed to' }).count(), 0);
    },
  ),

  'both timelines stand on one axis from the begin of a step; keys move both, a click leads into one': at(
    '?view=compare&a=step_500&b=step_1000',
    async ({ page, url }) => {
      const begins = (await json(url, 'api/steps?run=step_1000')).rows;
      const sides = page.locator('.aligned-side');
      const drawn = () =>
        eventually('both are drawn', () =>
          page
            .locator('.tracks-canvas')
            .evaluateAll(
              (all) =>
                all.length === 2 &&
                all.every(
                  ({ dataset }) => dataset.rows > 0 && dataset.rows === dataset.covered && dataset.loading === 'false',
                ),
            ),
        );
      await page.getByRole('button', { name: 'Timelines' }).click();
      await drawn();
      await assertAccessible(page);
      assert.match(await words(page), /0 is the start of step 500 of A, step 1000 of B/);
      await page.keyboard.press('j');
      await until(page, 'the next step', ({ align }) => align === '501');
      await sides
        .nth(1)
        .getByText(/^step 1001, /)
        .waitFor();
      const before = windowOf(page);
      assert.ok(before.start < 0 && before.end > Number(begins[0].dur_ps), 'the longer step is in the window');
      await page.keyboard.press('w');
      await until(page, 'zoomed', () => windowOf(page).span < before.span);
      await page.keyboard.press('0');
      await until(page, 'all of both', () => windowOf(page).start < -Number(begins[1].start_ps));
      await page.keyboard.press('0');
      await until(page, 'and back', () => windowOf(page).span < before.span);
      await page.goBack();
      await page.getByRole('button', { name: 'Timelines' }).click();
      await drawn();
      await page.keyboard.press('j');
      await sides
        .nth(1)
        .getByText(/^step 1001, /)
        .waitFor();
      await drawn();
      const zero = await page.locator('.aligned-zero').boundingBox();
      for (const side of [0, 1]) {
        const box = await sides.nth(side).locator('.tracks-canvas').boundingBox();
        await page.mouse.move(zero.x + 8, box.y + 34);
        await page
          .locator('.tooltip')
          .getByText(/^train/)
          .waitFor();
      }
      await page.mouse.down();
      await page.mouse.up();
      await until(page, 'into B', ({ run, slice }) => run === 'step_1000' && slice !== undefined);
      const slice = await json(url, `api/slice?run=step_1000&id=${address(page).slice}`);
      assert.deepEqual([slice.name, slice.start_ps], ['train', begins[1].start_ps]);
      await page.goBack();
      await until(page, 'back', ({ align, view }) => view === 'compare' && align === '501');
      await drawn();
    },
  ),

  'C offers the nearest runs; sides are chosen anew; the palette swaps': at(
    '?run=step_1500&view=ops&sort=-count',
    async ({ page }) => {
      await page.keyboard.press('c');
      await page.getByRole('listbox').getByRole('option').first().waitFor();
      assert.deepEqual(await violations(page), []);
      assert.match(await page.getByRole('listbox').getByRole('option').first().innerText(), /^step_1000/);
      await page.getByRole('combobox', { name: 'Compare step_1500 with' }).fill('500');
      await page.keyboard.press('Enter');
      await settle(page);
      assert.deepEqual(address(page), { view: 'compare', a: 'step_500', b: 'step_1500' });
      await page.getByRole('button', { name: 'B step_1500' }).click();
      await page
        .getByRole('listbox')
        .getByRole('option', { name: /step_1000/ })
        .click();
      await settle(page);
      assert.deepEqual(address(page), { view: 'compare', a: 'step_500', b: 'step_1000' });
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Action' }).fill('swap');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => location.search.includes('a=step_1000'));
    },
  ),

  'no such run: the nearest; one run twice: no difference': at(
    '?view=compare&a=step_50&b=step_1000',
    async ({ page, url }) => {
      assert.match(await words(page), /No run "step_50"\. Nearest: step_500/);
      await page.getByRole('link', { name: 'step_500', exact: true }).click();
      await settle(page);
      assert.deepEqual(address(page), { view: 'compare', a: 'step_500', b: 'step_1000' });
      await page.goto(`${url}?view=compare&a=step_500&b=step_500`);
      await settle(page);
      assert.match(await words(page), /A and B are both step_500: there is no difference to show\./);
      await page.goto(`${url}?view=compare&a=step_500@0-1&b=step_500`);
      await settle(page);
      assert.doesNotMatch(await words(page), /both step_500|No run/);
      await page.goto(`${url}?view=compare`);
      await page.getByRole('link', { name: 'list of runs' }).waitFor();
    },
  ),

  'what is not read yet waits with its share; names are text': at('?view=runs', async ({ page, url }) => {
    const evil = '<img src=x onerror=alert(1)>';
    await changeAnswers(page, '**/api/diff?**', (diff) => ({
      ...diff,
      step: null,
      sentence: `The capture of ${evil} lasts 1.00 ms; not both have steps.`,
      rows: diff.rows.map((row, index) => ({ ...row, name: index === 0 ? evil : row.name })),
    }));
    const indexing = (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        json: {
          type: 'indexing',
          title: 'Indexing',
          status: 503,
          detail: 'being indexed',
          progress: { done_bytes: 1048576, total_bytes: 4194304 },
        },
      });
    await page.route('**/api/diff?**', indexing, { times: 1 });
    await page.goto(`${url}?view=compare&a=step_500&b=step_1000`);
    await page.getByText(/Indexing 1\.00.MiB of 4\.00.MiB/).waitFor();
    await page.locator('.table-row').first().waitFor();
    assert.match(await words(page), /not both have steps/);
    assert.equal(await page.locator('main img').count(), 0);
    assert.equal((await names(page))[0].trim().slice(0, 4), '<img');
  }),

  'axe finds nothing in either theme': at('?view=compare&a=step_500&b=step_1000', async ({ page }) => {
    await assertAccessible(page);
    await page.locator('.toolbar select').first().selectOption('scope');
    await page.locator('.icicle').first().waitFor();
    await assertAccessible(page);
  }),
};
