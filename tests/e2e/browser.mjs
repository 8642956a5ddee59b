/* Chromium, and pages that are watched: what leaves the origin, what the console says. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
export const axePath = require.resolve('axe-core/axe.min.js');

export async function launch() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) {
    console.log('skipped: no Chromium is installed; ./dev setup installs it');
    process.exit(77);
  }
  return chromium.launch({ executablePath });
}

/* A page that records every request to another origin and every complaint of the console. */
export async function openPage(browser, origin, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1, reducedMotion: 'reduce', colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC', ...options,
  });
  const foreign = [];
  const complaints = [];
  await context.route('**', (route) => {
    const url = route.request().url();
    if (url.startsWith(origin) || url.startsWith('data:') || url.startsWith('blob:') || (options.allow ?? []).some((one) => url.startsWith(one))) return route.continue();
    foreign.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  return { page, context, foreign, complaints };
}

/* Nothing is on its way and nothing has moved for a moment. */
export async function settle(page) {
  await page.waitForLoadState('load');
  if (page.url().includes('view=timeline')) await page.locator('.tracks-canvas, main .state:not(.waiting)').first().waitFor();
  await page.waitForFunction(
    () => {
      const canvas = document.querySelector('.tracks-canvas');
      if (document.querySelector('.waiting')) return false;
      const waiting = canvas !== null && (canvas.dataset.loading !== 'false' || canvas.dataset.rows !== canvas.dataset.covered);
      const text = document.querySelector('main')?.textContent ?? '';
      const same = globalThis.settledText === text && !waiting && text.length > 0;
      globalThis.settledText = text;
      return same;
    },
    null,
    { polling: 250, timeout: 15_000 },
  );
}
