/* The browser's tests, one after another in one Chromium; a failed one does not stop the rest. */
import { readdirSync } from 'node:fs';
import { launch } from './browser.mjs';
import { startServer } from './server.mjs';

const pattern = process.argv[2] ?? '';
const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.mjs')).sort();
const server = await startServer();
const browser = await launch();
let passed = 0;
const failed = [];

for (const file of files) {
  const { tests } = await import(`./${file}`);
  for (const [name, test] of Object.entries(tests)) {
    const title = `${file.replace('.test.mjs', '')}: ${name}`;
    if (!title.includes(pattern)) continue;
    const begin = Date.now();
    const turn = () => test({ browser, url: server.url });
    try {
      /* What only took too long gets a second turn, and says so: a busy machine is no fault of the page. */
      await turn().catch((error) => {
        if (error.name !== 'TimeoutError') throw error;
        console.log(`AGAIN   ${title}: ${error.message.split('\n')[0]}`);
        return turn();
      });
      passed++;
      console.log(`ok      ${title} (${Date.now() - begin} ms)`);
    } catch (error) {
      failed.push(title);
      console.log(`FAILED  ${title}\n${error.stack ?? error}`);
    }
  }
}
await browser.close();
server.stop();
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
