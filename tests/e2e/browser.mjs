/* SPDX-License-Identifier: Apache-2.0 */
/* Chromium, and pages that are watched: what leaves the origin, what is on its way, what the console says. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const PATIENCE_MS = 20_000; // of a busy machine; what comes sooner is seen sooner
const LOOK_MS = 40;
const SLOWEST_TIMER_MS = 350; // of the page's own: what is typed or moved to is in the address by then

export async function launch() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) {
    console.log('skipped: no Chromium is installed; ./dev setup installs it');
    process.exit(77);
  }
  return chromium.launch({ executablePath });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const underWay = new WeakMap(); // page -> requests without an answer
const broken = new WeakMap(); // context -> why an answer could not be changed
const ASKED_AGAIN_MAX = 2; // after a connection that was closed while it lay idle

/* Who asked; nobody's are those of a page that is not there yet. */
function pageOf(request) {
  try {
    return request.frame().page();
  } catch {
    return null;
  }
}

function watchRequests(context) {
  context.on('request', (request) => {
    const page = pageOf(request);
    if (page === null || request.resourceType() === 'eventsource') return;
    if (!underWay.has(page)) underWay.set(page, new Set());
    underWay.get(page).add(request);
  });
  const ended = (request) => underWay.get(pageOf(request))?.delete(request);
  context.on('requestfinished', ended);
  context.on('requestfailed', ended);
}

/* A page that records every request to another origin and every complaint of the console. */
export async function openPage(browser, origin, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
    ...options,
  });
  const foreign = [];
  const complaints = [];
  const own = [origin, 'data:', 'blob:', ...(options.allow ?? [])];
  /* What stays here is not looked at one by one: that takes longer than the answer. */
  const elsewhere = new RegExp(`^(?!${own.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`);
  await context.route(elsewhere, (route) => {
    foreign.push(route.request().url());
    return route.abort();
  });
  watchRequests(context);
  const close = context.close.bind(context);
  /* Answers that are still being made up for a page that goes are nobody's. */
  context.close = async () => {
    const reason = broken.get(context);
    for (const one of [context, ...context.pages()]) await one.unrouteAll({ behavior: 'ignoreErrors' });
    await close();
    if (reason !== undefined) throw reason;
  };
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  return { page, context, foreign, complaints };
}

/* The page is told what `change` makes of the server's answers. What goes wrong there fails the test
 * that asked for it, as its page is closed, and none beside it. */
export function changeAnswers(page, pattern, change) {
  return page.route(pattern, async (route) => {
    try {
      const response = await route.fetch({ maxRetries: ASKED_AGAIN_MAX });
      await route.fulfill({ response, json: change(await response.json()) });
    } catch (error) {
      broken.set(page.context(), error);
      await route.abort().catch(() => undefined); // the page may have gone
    }
  });
}

/* The question as the address has it. */
export const address = (page) => Object.fromEntries(new URL(page.url()).searchParams);

export const json = (url, path) => fetch(url + path).then((reply) => reply.json());

export async function eventually(what, test) {
  for (const begin = Date.now(); ; await pause(LOOK_MS)) {
    if (await test()) return;
    if (Date.now() - begin > PATIENCE_MS) assert.fail(typeof what === 'string' ? what : what());
  }
}

/* `test` is given the address, and holds in the end. */
export const until = (page, what, test) =>
  eventually(
    () => `${what}: ${page.url()}`,
    () => test(address(page)),
  );

/* Time goes by in the page: what it had put off for less has happened, however busy the machine. */
export const pass = (page, ms) => page.evaluate((wait) => new Promise((resolve) => setTimeout(resolve, wait)), ms);

/* Runs in the page: what is shown once two frames were painted and what they put off was done, null
 * while it still waits for something. */
async function shownText() {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 24))));
  const canvas = document.querySelector('.tracks-canvas');
  if (document.readyState !== 'complete' || document.querySelector('.waiting')) return null;
  if (location.search.includes('view=timeline') && !document.querySelector('.tracks-canvas, main .state:not(.waiting)'))
    return null;
  if (canvas !== null && (canvas.dataset.loading !== 'false' || canvas.dataset.rows !== canvas.dataset.covered))
    return null;
  const text = document.querySelector('main')?.textContent;
  return text ? `${location.href} ${text}` : null;
}

/* Nothing is on its way and nothing has moved for a moment. */
export async function settle(page) {
  const begin = Date.now();
  let quiet = 0;
  for (let before = null; quiet < 2;) {
    const text = await page.evaluate(shownText).catch(() => pause(LOOK_MS)); // between two pages there is none
    const isStill = typeof text === 'string' && text === before && (underWay.get(page)?.size ?? 0) === 0;
    quiet = isStill ? quiet + 1 : 0;
    before = text;
    if (Date.now() - begin > PATIENCE_MS) {
      const waited = [page, ...(underWay.get(page) ?? [])].map((one) => one.url());
      const error = new Error(`the page does not come to rest: ${waited.join(' ')}`);
      throw Object.assign(error, { name: 'TimeoutError' });
    }
  }
}

/* At rest, and nothing put off. */
export async function rest(page) {
  await settle(page);
  await pass(page, SLOWEST_TIMER_MS);
  await settle(page);
}

/* The window of a timeline, as the address has it. */
export function windowOf(page) {
  const [, start, end] = /^(-?\d+)-(-?\d+)$/.exec(address(page).window ?? '0-0');
  return { start: Number(start), end: Number(end), span: Number(end) - Number(start) };
}
