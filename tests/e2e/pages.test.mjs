/* Every page opens, says its sentence, stays within the origin, complains of nothing, and has no
 * serious fault that axe can find; in both themes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { axePath, openPage, settle } from './browser.mjs';

const axe = readFileSync(axePath, 'utf8');

const PAGES = {
  runs: ['?view=runs', /\d+ runs\. The newest with steps, step_\d+, takes/],
  overview: ['?run=step_1000', /A step takes [\d.]+ \w+ \(± /],
  timeline: ['?run=step_1000&view=timeline', /In view: [\d.]+ ms of/],
  ops: ['?run=step_1000&view=ops', /\d+ ops take [\d.]+ \w+ on devices/],
  'ops by scope': ['?run=step_1000&view=ops&by=scope', /\d+ scopes take/],
  flame: ['?run=step_1000&view=flame', /takes [\d.]+ % of device time/],
  steps: ['?run=step_1000&view=steps', /5 steps, median [\d.]+ ms/],
  memory: ['?run=step_1000&view=memory', /To record it:/],
  hlo: ['?run=step_1000&view=hlo', /jit_train_step: \d+ instructions, \d+ fusions; run 5 times in [\d.]+ ms/],
  'an instruction': ['?run=step_1000&view=hlo&module=jit_train_step&name=dot.63', /Operands 2/],
  'instructions found': ['?run=step_1000&view=hlo&q=attention', /\d+ instructions\. Close/],
  files: ['?run=step_1000&view=files', /2 files, [\d.]+ KiB/],
  'unknown run': ['?run=step_100', /step_1000/],
  'odd address': ['?run=step_1000&view=timeline&window=9-1', /window=9-1 is no START-END/],
};

async function violations(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return result.violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

function visit([query, words], colorScheme) {
  return async ({ browser, url }) => {
    const { page, context, foreign, complaints } = await openPage(browser, url, { colorScheme });
    try {
      await page.goto(url + query);
      await settle(page);
      const text = (await page.locator('body').innerText()).replaceAll('\u202f', ' ');
      assert.match(text, words);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(foreign, [], 'requests that leave the origin');
      assert.deepEqual(complaints.filter((one) => !/status of 404/.test(one)), [], 'the console');
      assert.equal(await page.locator('[style*="expression"], script:not([src])').count(), 0);
    } finally {
      await context.close();
    }
  };
}

export const tests = Object.fromEntries(
  Object.entries(PAGES).flatMap(([name, page]) => ['light', 'dark'].map((theme) => [`${name}, ${theme}`, visit(page, theme)])),
);
