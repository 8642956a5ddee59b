/* SPDX-License-Identifier: Apache-2.0 */
/* What axe finds on a page, and that it finds nothing in either theme. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export async function violations(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  /* A menu stands over the page and belongs to none of its regions. */
  const nodesOf = (one) => one.nodes.filter((node) => one.id !== 'region' || !node.html.includes('role="menu"'));
  return result.violations
    .map((one) => ({ ...one, nodes: nodesOf(one) }))
    .filter((one) => one.nodes.length > 0)
    .map(
      (one) =>
        `${one.id}: ${one.help}: ${one.nodes
          .slice(0, 3)
          .map((node) => node.html.slice(0, 160))
          .join(' | ')}`,
    );
}

/* In the light, then as the evening comes: a page follows the system's theme. */
export async function assertAccessible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
    assert.deepEqual(await violations(page), [], colorScheme);
  }
}
