/* Every page x theme x width x sample as PNG: node shots.mjs DIR [RUN...] */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch, openPage, settle } from './browser.mjs';
import { startServer } from './server.mjs';

const VIEWS = ['overview', 'timeline', 'ops', 'kernels', 'flame', 'steps', 'compiles', 'transfers', 'memory', 'hosts', 'roofline', 'hlo', 'files'];
const SIZES = [[1280, 720], [2560, 1440]];
const THEMES = ['light', 'dark'];

const [dir, ...asked] = process.argv.slice(2);
if (!dir) {
  console.error('usage: shots.mjs DIR [RUN...]');
  process.exit(2);
}
mkdirSync(dir, { recursive: true });
const server = await startServer();
const browser = await launch();
let complaintCount = 0;

async function shoot(page, address, name) {
  await page.goto(address);
  await settle(page);
  await page.screenshot({ path: join(dir, `${name}.png`) });
  console.log(`${name}.png`);
}

try {
  const list = await fetch(`${server.url}api/runs?limit=1000`).then((reply) => reply.json());
  const runs = asked.length > 0 ? asked : list.runs.map((run) => run.name);
  for (const [width, height] of SIZES)
    for (const theme of THEMES) {
      const { page, context, complaints } = await openPage(browser, server.url, { viewport: { width, height }, colorScheme: theme });
      await shoot(page, `${server.url}?view=runs`, `runs-${theme}-${width}`);
      if (runs.length > 1) await shoot(page, `${server.url}?${new URLSearchParams({ view: 'compare', a: runs.at(-1), b: runs.at(-2) })}`, `compare-${theme}-${width}`);
      for (const run of runs)
        for (const view of VIEWS)
          await shoot(page, `${server.url}?run=${encodeURIComponent(run)}&view=${view}`, `${run.replaceAll('/', '_')}-${view}-${theme}-${width}`);
      complaints.forEach((complaint) => console.error(complaint));
      complaintCount += complaints.length;
      await context.close();
    }
} finally {
  await browser.close();
  server.stop();
}
process.exit(complaintCount > 0 ? 1 : 0);
