/* SPDX-License-Identifier: Apache-2.0 */
// frame.mjs URL: what the frame of a page shows, or the page itself where it has none, as text, once it is there.
import { launch } from '../e2e/browser.mjs';

const browser = await launch();
const page = await browser.newPage();
await page.goto(process.argv[2]);
const shown = (await page.locator('iframe').count()) > 0 ? page.frameLocator('iframe') : page;
await shown.getByText('A step takes').waitFor({ timeout: 60000 });
console.log(await shown.locator('body').innerText());
await browser.close();
