/* SPDX-License-Identifier: Apache-2.0 */
/* What to do first: sentences with what they win, each a click from its evidence; all of them on
 * demand. */
import assert from 'node:assert/strict';
import { changeAnswers, openPage, settle } from './browser.mjs';

async function onOverview({ browser, url }, look) {
  const { page, context, complaints } = await openPage(browser, url);
  try {
    await page.goto(`${url}?run=step_1500`);
    await settle(page);
    await look(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

const wins = (page) => page.locator('.findings .win').allInnerTexts();

export const tests = {
  'the worst stands first, and says what it wins': (at) =>
    onOverview(at, async (page) => {
      const first = await page.locator('.findings > li').first().innerText();
      assert.match(first, /Step 1502 compiles train_step in 814.ms/);
      assert.match((await wins(page))[0], /^(up to )?\d+.%(, up to \d+.%)?$/);
      assert.equal(await page.locator('.findings > li').count(), 3);
    }),
  'a click leads to the evidence': (at) =>
    onOverview(at, async (page) => {
      await page.locator('.findings .finding a').first().click();
      await settle(page);
      const query = new URL(page.url()).searchParams;
      assert.equal(query.get('view'), 'timeline');
      assert.ok(query.get('slice') ?? query.get('start_ps') ?? query.get('step'), page.url());
    }),
  'every kind of work leads to what it is made of': (at) =>
    onOverview(at, async (page) => {
      const links = await page
        .locator('main .legend a')
        .evaluateAll((all) => all.map((one) => [one.textContent, one.href]));
      assert.ok(links.some(([kind]) => kind === 'host') && links.some(([kind]) => kind === 'compute'), String(links));
      for (const [kind, href] of links) {
        await page.goto(href);
        await settle(page);
        assert.doesNotMatch(await page.locator('main').innerText(), /Nothing matches/, kind);
        assert.equal(
          new URL(href).searchParams.get('by'),
          ['host', 'input', 'compile', 'copy'].includes(kind) ? 'name' : null,
          kind,
        );
      }
    }),
  /* The samples have as many as the overview shows: here it is told of fewer. */
  'the others unfold in place': (at) =>
    onOverview(at, async (page) => {
      await changeAnswers(page, /api\/overview/, (overview) => ({
        ...overview,
        findings: overview.findings.slice(0, 1),
      }));
      await page.reload();
      await settle(page);
      assert.equal(await page.locator('.findings > li').count(), 1);
      await page.getByRole('button', { name: 'Show 2 more findings' }).click();
      await settle(page);
      assert.equal(await page.locator('.findings > li').count(), 3);
    }),
};
