/* SPDX-License-Identifier: Apache-2.0 */
/* What the documents show in pictures is on the page, and each mark has its line of text. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openPage, settle } from './browser.mjs';
import { PICTURES, placeOf, SIZE } from './shots/pictures.mjs';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/* How many numbered lines follow the picture, before the next heading, picture or code. */
function linesBelow(text, name) {
  const behind = text.split(`(pictures/${name}.png)`)[1] ?? '';
  const part = behind.split(/^(?:#|!\[|```)/m)[0];
  return part.match(/^\d+\. /gm)?.length ?? 0;
}

export const tests = {
  'each mark of a picture is on its page, and has a line in the text': async ({ browser, url }) => {
    const opened = await openPage(browser, url, { viewport: SIZE, colorScheme: 'light' });
    try {
      const all = Object.entries(PICTURES).flatMap(([file, pictures]) => pictures.map((one) => ({ ...one, file })));
      for (const { name, query, marks, file } of all) {
        const text = readFileSync(`${DOCS}${file}`, 'utf8');
        assert.ok(existsSync(`${DOCS}pictures/${name}.png`), `${name}: ./dev shots --docs makes it`);
        assert.equal(linesBelow(text, name), marks.length, name);
        await opened.page.goto(url + query);
        await settle(opened.page);
        for (const mark of marks) {
          const { x, y } = await placeOf(opened.page, mark);
          assert.ok(x > 0 && x < SIZE.width && y > 0 && y < SIZE.height, `${name}: ${mark} is not in the picture`);
        }
      }
    } finally {
      await opened.context.close();
    }
  },
};
