/* SPDX-License-Identifier: Apache-2.0 */
/* The browser's figures over a large run: `./dev bench --web` makes it and prints them.
 *
 *   node bench.mjs DIRECTORY [PROFILE [PART,...]]   name value unit goal ratio ok|short, a line each; - is no PROFILE
 *
 * DIRECTORY holds the run of 10 M slices on 200 tracks; PROFILE is opened by a fresh server that never saw
 * it, from exec to the first painted tiles. What depends on the machine's pace stands beside an empty page
 * measured in the same browser at the same time; and beside what is taken by the clock stands the CPU of it,
 * which a busy machine changes less. A short figure is measured again, three times at most, and the best
 * counts: a busy machine takes time away and never gives any.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { launch, openPage, settle } from './browser.mjs';
import { measureFrames } from './frames.mjs';
import { measureHeap } from './heap.mjs';
import { ready, startOwn } from './server.mjs';

const TURNS = 3;
const MIB = 2 ** 20;
const HEAP_ROUNDS = 40;
const CLICK_MS = 1000;

const sorted = (values) => [...values].sort((a, b) => a - b);
const quantile = (values, share) => sorted(values)[Math.max(0, Math.ceil(values.length * share) - 1)];
const median = (values) => quantile(values, 0.5);

const best = new Map();

/* `most`: the goal, or null where the figure is there to compare with. */
function figure(name, value, unit, most) {
  const known = best.get(name);
  if (!known || value < known.value) best.set(name, { value, unit, most });
}

const isShort = (names) =>
  names.some((name) => best.get(name).most !== null && best.get(name).value > best.get(name).most);

async function measured(measure) {
  const before = new Set(best.keys());
  for (let turn = 0; turn < TURNS; turn++) {
    await measure();
    if (!isShort([...best.keys()].filter((name) => !before.has(name)))) break;
  }
  for (const [name, { value, unit, most }] of best) if (!before.has(name)) tell(name, value, unit, most);
}

/* The ratio is of the value to the goal: up to 1 it is reached. */
function tell(name, value, unit, most) {
  const ratio = most ? (value / most).toFixed(2) : '-';
  const words = [
    name.padEnd(36),
    String(Number(value.toPrecision(4))).padStart(8),
    unit.padEnd(4),
    (most === null ? '-' : `<=${most}`).padStart(6),
    ratio.padStart(6),
    most === null || value <= most ? 'ok' : 'short',
  ];
  console.log(words.join(' '));
}

async function onPage(browser, url, query, body, options = {}) {
  const { page, context } = await openPage(browser, url, { viewport: { width: 1600, height: 1000 }, ...options });
  try {
    await page.goto(url + query);
    await settle(page);
    return await body(page, context);
  } finally {
    await context.close();
  }
}

/* CPU seconds of the browser's processes, page and painter. */
async function cpuSeconds(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter((one) => ['renderer', 'GPU'].includes(one.type)).reduce((sum, one) => sum + one.cpuTime, 0);
}

const LONG_MS = 50;

/* The thread that draws the frames, and how many. */
function busiest(traceEvents) {
  const counts = new Map();
  for (const { name, ph, pid, tid } of traceEvents)
    if (name === 'FireAnimationFrame' && ph === 'X')
      counts.set(`${pid} ${tid}`, (counts.get(`${pid} ${tid}`) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0];
}

/* The page's own thread in a trace: CPU of each animation frame's script, and tasks of more than 50 ms of it.
 * The thread's own clock stands still while others have the processor. */
function tasksOf({ traceEvents }) {
  const [main] = busiest(traceEvents);
  const ours = traceEvents.filter(
    (one) => `${one.pid} ${one.tid}` === main && one.ph === 'X' && one.tdur !== undefined,
  );
  return {
    frames: ours.filter((one) => one.name === 'FireAnimationFrame').map((one) => one.tdur / 1000),
    long: ours.filter((one) => /RunTask$/.test(one.name) && one.tdur > 1000 * LONG_MS).length,
  };
}

async function frames(browser, url, run) {
  const session = await browser.newBrowserCDPSession();
  let tasks;
  const moved = await measureFrames(browser, url, run, {
    frames: 600,
    around: async (body, page) => {
      await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
      const before = await cpuSeconds(session);
      await body();
      const cost = (await cpuSeconds(session)) - before;
      tasks = tasksOf(JSON.parse(await browser.stopTracing()));
      return cost;
    },
  });
  figure('web.frames.script_p95', quantile(tasks.frames, 0.95), 'ms', 12);
  figure('web.frames.script_p95_with_waits', moved.script_p95, 'ms', null);
  figure('web.frames.frame_p95_over_empty', moved.frame_p95 - moved.empty_p95, 'ms', 5);
  figure('web.frames.cpu', (1000 * moved.around) / 600, 'ms', 20);
  figure('web.frames.long_tasks', tasks.long, '1', 0);
  figure('web.frames.uncovered_rows', 1 - moved.covered, '1', 0.05);
}

/* Runs in the page: from each event's own time to the moment its effect stands in the document. */
function watchAnswers({ event, selector }) {
  globalThis.answers = [];
  let asked = null;
  addEventListener(event, (one) => (asked = one.timeStamp), { capture: true });
  new MutationObserver(() => {
    if (asked === null || !document.querySelector(selector)) return;
    globalThis.answers.push(performance.now() - asked);
    asked = null;
  }).observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
}

/* Where rows of slices are on the screen: the middles of tracks that are open. */
async function openRows(page) {
  const box = await page.locator('.tracks-canvas').boundingBox();
  const rows = await page
    .locator('.track-name:not(.group)')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ y, height }) => y + height / 2));
  const seen = rows.filter((y) => y > box.y && y < box.y + box.height);
  if (seen.length === 0) throw new Error('no open track is on the screen');
  return { box, rows: seen };
}

async function hover(browser, url, run) {
  await onPage(browser, url, `?run=${run}&view=timeline`, async (page) => {
    const { box, rows } = await openRows(page);
    await page.evaluate(watchAnswers, { event: 'pointermove', selector: '.tooltip' });
    for (let at = 0; at < 60; at++) {
      await page.mouse.move(box.x + 20 + ((at * 137) % (box.width - 200)), rows[at % rows.length]);
      await page.waitForTimeout(30);
    }
    const times = await page.evaluate(() => globalThis.answers);
    if (times.length < 5) throw new Error(`${times.length} looks met a slice`);
    figure('web.hover_to_tooltip_p50', median(times), 'ms', 16);
    figure('web.hover_to_tooltip_p95', quantile(times, 0.95), 'ms', null);
  });
}

/* Runs in the page: from a click to the moment the pane tells another slice than before. */
function watchClicks() {
  globalThis.answers = [];
  let asked = null;
  let told = null;
  addEventListener('pointerup', (one) => (asked = one.timeStamp), { capture: true });
  new MutationObserver(() => {
    const now = document.querySelector('.slice-name')?.textContent ?? null;
    if (asked === null || now === null || now === told) return;
    told = now;
    globalThis.answers.push(performance.now() - asked);
    asked = null;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}

/* In a window of a few slices of a track that is open. */
async function click(browser, url, run) {
  await onPage(browser, url, `?run=${run}&view=timeline`, async (page) => {
    const track = await page.locator('.track-name:not(.group)').first().getAttribute('data-id');
    const few = await fetch(`${url}api/slices?run=${run}&track=${track}&limit=1000`).then((reply) => reply.json());
    const { start_ps: start, dur_ps: length } = few.rows.at(-1);
    await page.goto(`${url}?run=${run}&view=timeline&window=${start - 15 * length}-${start + 15 * length}`);
    await settle(page);
    const { box, rows } = await openRows(page);
    await page.evaluate(watchClicks);
    for (let at = 0; at < 30; at++) {
      const before = await page.evaluate(() => globalThis.answers.length);
      await page.mouse.click(box.x + 60 + ((at * 173) % (box.width - 120)), rows[at % rows.length]);
      const told = (count) => globalThis.answers.length > count;
      // Where nothing lies, nothing is told.
      await page.waitForFunction(told, before, { timeout: CLICK_MS }).catch(() => undefined);
    }
    const times = await page.evaluate(() => globalThis.answers);
    if (times.length < 5) throw new Error(`${times.length} clicks met a slice`);
    figure('web.click_to_details_p50', median(times), 'ms', 50);
    figure('web.click_to_details_p95', quantile(times, 0.95), 'ms', null);
  });
}

/* CPU of the page's own thread while `body` runs, in milliseconds. */
async function pageCpu(browser, page, body) {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
  await body();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const [main] = busiest(traceEvents);
  const tasks = traceEvents.filter(
    (one) => `${one.pid} ${one.tid}` === main && one.ph === 'X' && /RunTask$/.test(one.name) && one.tdur !== undefined,
  );
  return tasks.reduce((sum, one) => sum + one.tdur, 0) / 1000;
}

/* In the page: from the list of runs to the first painted tiles, in milliseconds. */
function openRun(name) {
  return new Promise((resolve) => {
    const begin = performance.now();
    history.pushState(null, '', `?run=${encodeURIComponent(name)}&view=timeline`);
    dispatchEvent(new PopStateEvent('popstate'));
    const look = () =>
      Number(document.querySelector('.tracks-canvas')?.dataset.covered ?? 0) > 0
        ? resolve(performance.now() - begin)
        : requestAnimationFrame(look);
    look();
  });
}

/* In a page that has not seen the run; and once more, watched, which itself takes time. */
async function open(browser, url, run) {
  await onPage(browser, url, '?view=runs', async (page) =>
    figure('web.open_10M', await page.evaluate(openRun, run), 'ms', 300),
  );
  await onPage(browser, url, '?view=runs', async (page) =>
    figure('web.open_10M.page_cpu', await pageCpu(browser, page, () => page.evaluate(openRun, run)), 'ms', null),
  );
}

/* What the page waits for while the hand drags, by its own account of requests. */
async function asked(page, part, body) {
  await page.evaluate(() => (performance.clearResourceTimings(), performance.setResourceTimingBufferSize(5000)));
  await body();
  return page.evaluate(
    (word) =>
      performance
        .getEntriesByType('resource')
        .filter((one) => one.name.includes(word))
        .map((one) => one.duration),
    part,
  );
}

/* CPU of the server up to now, in milliseconds; null where the system does not tell. */
function serverCpu(pid) {
  try {
    const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return (Number(words[11]) + Number(words[12])) * 10;
  } catch {
    return null;
  }
}

async function range(browser, url, run, pid) {
  await onPage(browser, url, `?run=${run}&view=timeline`, async (page) => {
    const ruler = await page.locator('.ruler').boundingBox();
    const before = serverCpu(pid);
    const times = await asked(page, 'api/top', async () => {
      await page.mouse.move(ruler.x + 200, ruler.y + ruler.height / 2);
      await page.mouse.down();
      for (let at = 0; at < 60; at++) {
        await page.mouse.move(ruler.x + 200 + at * 17, ruler.y + ruler.height / 2);
        await page.waitForTimeout(30);
      }
      await page.mouse.up();
      await page.waitForTimeout(300);
    });
    if (times.length < 3) throw new Error('the table did not follow the drag');
    figure('web.range_table_p50', median(times), 'ms', 25);
    figure('web.range_table_p95', quantile(times, 0.95), 'ms', null);
    if (before !== null) figure('web.range_table.server_cpu', (serverCpu(pid) - before) / times.length, 'ms', 25);
  });
}

async function search(browser, url, run) {
  const { rows } = await fetch(`${url}api/top?run=${run}&by=name&limit=1`).then((reply) => reply.json());
  const words = [
    ['name', rows[0].name],
    ['arg', 'correlation=123456'],
  ];
  for (const [what, word] of words)
    await onPage(browser, url, `?run=${run}&view=timeline`, async (page) => {
      const times = await asked(page, 'api/search', async () => {
        await page.keyboard.press('/');
        await page.keyboard.insertText(word);
        await page.waitForTimeout(1200);
      });
      if (times.length === 0) throw new Error(`nothing was asked for ${word}`);
      figure(`web.search_${what}.first_hits`, times[0], 'ms', 30);
      figure(`web.search_${what}.all`, Math.max(...times), 'ms', 200);
    });
}

async function heap(browser, url, run) {
  const bytes = await measureHeap(browser, url, run, HEAP_ROUNDS);
  const lowest = (part) => Math.min(...part);
  figure('web.heap.most', Math.max(...bytes) / MIB, 'MiB', 150);
  figure(
    'web.heap.growth_of_last_half',
    (lowest(bytes.slice((3 * HEAP_ROUNDS) / 4)) - lowest(bytes.slice(HEAP_ROUNDS / 2, (3 * HEAP_ROUNDS) / 4))) / MIB,
    'MiB',
    1,
  );
}

/* Every script, also those that come with a page that is opened later. */
async function script(url) {
  const page = await fetch(url).then((reply) => reply.text());
  const names = [...page.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map(([, name]) => name);
  let bytes = 0;
  for (const name of names) {
    const packed = spawnSync('curl', [
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{size_download}',
      '-H',
      'Accept-Encoding: gzip',
      url + name,
    ]);
    bytes += Number(packed.stdout);
    const words = await fetch(url + name).then((reply) => reply.text());
    const folder = name.replace(/[^/]*$/, '');
    for (const [, next] of words.matchAll(/["'`]\.\/([\w.-]+\.js)["'`]/g))
      if (!names.includes(folder + next)) names.push(folder + next);
  }
  figure('web.script_gzip', bytes / 1000, 'kB', 150);
}

const WINDOW_MS = 4000;

/* Runs in the page: a promise of its first tiles. To look for them at every frame costs frames. */
function watchTiles() {
  const isPainted = ({ target }) => Number(target.dataset.covered) > 0;
  globalThis.firstTiles = new Promise((resolve) =>
    new MutationObserver((changes) => changes.some(isPainted) && resolve()).observe(document, {
      subtree: true,
      attributeFilter: ['data-covered'],
    }),
  );
}

/* A server that never saw the file, from its start to the first tiles on the screen, in a browser that is
 * open: what a new window of Chromium does by itself is over. */
async function firstOpen(browser, profile) {
  const { page, context } = await openPage(browser, 'http://', { viewport: { width: 1600, height: 1000 } });
  await page.addInitScript(watchTiles);
  await page.goto('about:blank');
  await page.waitForTimeout(WINDOW_MS);
  const begin = performance.now();
  const server = await startOwn([profile]);
  try {
    await page.goto(`${server.url}?run=latest&view=timeline`, { waitUntil: 'commit' });
    await page.evaluate(() => globalThis.firstTiles);
    const seconds = (performance.now() - begin) / 1000;
    figure('web.first_open', seconds, 's', null);
    return seconds;
  } finally {
    await context.close();
    server.stop();
  }
}

function freePort() {
  return new Promise((resolve) => {
    const taken = createServer().listen(0, '127.0.0.1', () => {
      const { port } = taken.address();
      taken.close(() => resolve(port));
    });
  });
}

/* Until somebody answers there. */
async function answers(url) {
  for (let look = 0; look < 1500; look++) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`nobody answers at ${url}`);
}

/* Runs in each of its frames: once what the answer changed is drawn. */
const twoFrames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

/* XProf's own page in the same browser: from its start to its trace viewer's first picture, of a file that
 * it never saw. Its fonts and charts from elsewhere are refused at once. */
async function xprofSeconds(browser, profile) {
  const folder = mkdtempSync(join(tmpdir(), 'jviewd-xprof-'));
  const session = join(folder, 'plugins/profile/s');
  mkdirSync(session, { recursive: true });
  copyFileSync(profile, join(session, 'h.xplane.pb'));
  const { page, context } = await openPage(browser, 'http://', { viewport: { width: 1600, height: 1000 } });
  await page.goto('about:blank');
  await page.waitForTimeout(WINDOW_MS);
  const begin = performance.now();
  const url = `http://localhost:${await freePort()}/`;
  const child = spawn(
    join(dirname(process.env.JVIEWD_XPROF), 'xprof'),
    ['--logdir', folder, '--port', new URL(url).port],
    { stdio: 'ignore' },
  );
  try {
    await answers(url);
    const trace = page.waitForResponse((reply) => /\/data\?.*trace_viewer/.test(reply.url()), { timeout: 120_000 });
    await page.goto(`${url}data/plugin/profile/trace_viewer@?run=s&tag=trace_viewer@&host=h`, {
      waitUntil: 'commit',
    });
    await (await trace).finished();
    await Promise.all(page.frames().map((frame) => frame.evaluate(twoFrames)));
    return (performance.now() - begin) / 1000;
  } finally {
    await context.close();
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function beside(browser, profile) {
  const ours = await firstOpen(browser, profile);
  if (!process.env.JVIEWD_XPROF) return;
  const theirs = await xprofSeconds(browser, profile);
  figure('web.first_open.xprof', theirs, 's', null);
  figure('web.first_open.share_of_xprof', ours / theirs, '1', 0.1);
}

const [directory, profile, part = ''] = process.argv.slice(2);
const server = await startOwn([directory], (url) => ready(url, 120_000));
const browser = await launch();
try {
  const { runs } = await fetch(`${server.url}api/runs`).then((reply) => reply.json());
  const { name } = runs[0];
  const run = encodeURIComponent(name);
  const tracks = await fetch(`${server.url}api/tracks?run=${run}`).then((reply) => reply.json());
  console.log(
    `${runs[0].slice_count} slices on ${tracks.tracks.filter((track) => track.slice_count > 0).length} tracks`,
  );
  await onPage(browser, server.url, `?run=${run}&view=timeline`, async () => undefined); // warm
  const parts = {
    frames: () => frames(browser, server.url, name),
    hover: () => hover(browser, server.url, run),
    click: () => click(browser, server.url, run),
    open: () => open(browser, server.url, name),
    range: () => range(browser, server.url, run, server.pid),
    search: () => search(browser, server.url, run),
    heap: () => heap(browser, server.url, name),
    script: () => script(server.url),
    'first open': () =>
      profile && profile !== '-'
        ? beside(browser, profile)
        : console.log('first open: not measured; name an .xplane.pb, and a Python with xprof in JVIEWD_XPROF'),
  };
  for (const [words, measure] of Object.entries(parts)) {
    if (!part.split(',').some((one) => words.includes(one))) continue;
    await measured(measure).catch((error) => {
      console.log(`${words}: not measured: ${error.message}`);
      process.exitCode = 1;
    });
  }
} finally {
  await browser.close();
  server.stop();
}
if ([...best.values()].some(({ value, most }) => most !== null && value > most)) process.exitCode = 1;
