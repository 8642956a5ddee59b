/* SPDX-License-Identifier: Apache-2.0 */
/* The view that stands in another page, a notebook's say: only where the server was told of that page. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLES = fileURLToPath(new URL('../samples', import.meta.url));

/* A page of another origin with ours in a frame. */
async function notebook(of) {
  const server = createServer((request, reply) => {
    const query = decodeURIComponent(request.url.split('?')[1] ?? '');
    reply
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><title>notebook</title><iframe width="1100" height="600" src="${of()}?${query}"></iframe>`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close() };
}

function framed(isTold, query, body) {
  return async ({ browser }) => {
    let url = '';
    const around = await notebook(() => url);
    const server = await startOwn(
      [join(SAMPLES, 'step_1000'), ...(isTold ? ['--embed-origin', new URL(around.url).origin] : [])],
      ready,
    );
    url = server.url;
    const { page, context, complaints } = await openPage(browser, url, { allow: [around.url] });
    try {
      await page.goto(`${around.url}?${encodeURIComponent(query)}`);
      await body({ page, frame: page.frameLocator('iframe'), complaints, url });
    } finally {
      await context.close();
      server.stop();
      around.stop();
    }
  };
}

const refuses = async ({ page, frame, complaints }) => {
  await eventually('the browser says why', () => complaints.length > 0);
  assert.equal(await frame.locator('main').count(), 0, 'nothing of ours is shown');
};

export const tests = {
  'a page that was named frames the view, without header and tabs': framed(
    true,
    'run=step_1000&view=ops&embed=1',
    async ({ frame, page, complaints }) => {
      await frame.locator('.table-row').first().waitFor();
      assert.equal(await frame.locator('header, nav[aria-label=Views], .tabs').count(), 0);
      const link = frame.getByRole('link', { name: 'step_1000 in jviewd' });
      assert.ok(!(await link.getAttribute('href')).includes('embed'));
      assert.equal(await link.getAttribute('target'), '_blank');
      const [box, around] = [await frame.locator('main').boundingBox(), await page.locator('iframe').boundingBox()];
      assert.ok(box.y - around.y < 16 && box.height > 550, 'the view fills the frame');
      assert.deepEqual(complaints, []);
    },
  ),
  'its links stay in the frame, as views without header': framed(
    true,
    'run=step_1000&view=overview&embed=1',
    async ({ frame }) => {
      await frame.getByText('A step takes').waitFor();
      await frame.locator('main a[href*="view=timeline"], main a[href*="view=ops"]').first().click();
      await frame.locator('.table-row, .tracks-canvas').first().waitFor();
      assert.equal(await frame.locator('header').count(), 0);
    },
  ),
  'the whole page is framed by nobody': framed(true, 'run=step_1000&view=ops', refuses),
  'a page that was not named frames nothing': framed(false, 'run=step_1000&view=ops&embed=1', refuses),
  'alone it is a page like any other': async ({ browser, url }) => {
    const { page, context } = await openPage(browser, url);
    try {
      await page.goto(`${url}?run=step_1000&view=timeline&embed=1`);
      await settle(page);
      assert.equal(await page.locator('header').count(), 0);
      assert.ok((await page.locator('.tracks-canvas').boundingBox()).height > 200);
    } finally {
      await context.close();
    }
  },
};
