// frame.mjs URL: what stands in the frame of a page, as text, once it is there.
import { launch } from '../e2e/browser.mjs';

const browser = await launch();
const page = await browser.newPage();
await page.goto(process.argv[2]);
const frame = page.frameLocator('iframe');
await frame.getByText('A step takes').waitFor({ timeout: 60000 });
console.log(await frame.locator('body').innerText());
await browser.close();
