/* SPDX-License-Identifier: Apache-2.0 */
/* Empty, live, lost, hostile: the states of a page that nobody plans for, each with a server of its
 * own. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage, settle } from './browser.mjs';
import { payloads } from './payloads.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLE = fileURLToPath(new URL('../samples/step_500', import.meta.url));
const LONG = 'long_'.repeat(400);
const NAMES = [
  '<img src=x onerror=alert(1)>',
  '',
  '\u202egnp.exe',
  'tab\there',
  LONG,
  '\ud83d\ude00',
  '</script><script>alert(1)</script>',
  '__proto__',
  "';--",
];

function hostileTrace() {
  const events = NAMES.map((name, index) => ({
    ph: 'X',
    pid: 1,
    tid: 1 + (index % 2),
    ts: index * 100,
    dur: 80,
    name,
    args: { [name || 'empty']: name },
  }));
  events.push({ ph: 'M', pid: 1, name: 'process_name', args: { name: '<b>process</b>' } });
  return JSON.stringify({ traceEvents: events });
}

function withFolder(body) {
  return async ({ browser }) => {
    const folder = mkdtempSync(join(tmpdir(), 'jviewd-states-'));
    try {
      await body(browser, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/* The sample, whose second half comes when `body` is done; until then it changes all the time. */
async function whileWritten(path, body) {
  const sample = join(
    SAMPLE,
    readdirSync(SAMPLE, { recursive: true }).find((name) => name.endsWith('.xplane.pb')),
  );
  const whole = readFileSync(sample);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  const writer = setInterval(() => utimesSync(path, new Date(), new Date()), 100);
  try {
    await body();
  } finally {
    clearInterval(writer);
  }
  writeFileSync(path, whole);
}

async function on(browser, url, query, body) {
  const opened = await openPage(browser, url);
  try {
    await opened.page.goto(url + query);
    await body(opened.page, opened);
    assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
  } finally {
    await opened.context.close();
  }
}

export const tests = {
  'an empty directory says what it waits for, and fills live': withFolder(async (browser, folder) => {
    const server = await startOwn([folder]);
    try {
      await on(browser, server.url, '?view=trend', async (page) => {
        await page.getByText('No runs are here yet, so that nothing has a trend.').waitFor();
        await page.getByText('jax.profiler.trace(').waitFor();
      });
      await on(browser, server.url, '', async (page) => {
        await page.getByText(/No profiles .* yet/).waitFor();
        for (const line of [
          `with jax.profiler.trace("${folder}"): ...`,
          `tensorboard_trace_handler("${folder}")`,
          `nsys export --type sqlite ${folder}/run.nsys-rep`,
        ])
          await page.locator('code', { hasText: line }).waitFor();
        cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
        await page.getByText('A step takes').waitFor({ timeout: 20_000 });
      });
      await on(browser, server.url, '?view=runs', async (page) => {
        await page.locator('.table-row', { hasText: 'step_500' }).waitFor();
        await page.evaluate(() => (window.isTheSamePage = true));
        const row = page.locator('.table-row', { hasText: 'step_900' });
        await whileWritten(join(folder, 'step_900', 'host.xplane.pb'), async () => {
          await page.getByRole('button', { name: '1 new run' }).click();
          await row.getByText('still being written').waitFor();
        });
        await ready(server.url);
        await row.filter({ hasNotText: /still being written|indexing|waiting|cannot be read/ }).waitFor();
        assert.ok(await page.evaluate(() => window.isTheSamePage), 'nothing was loaded again');
      });
    } finally {
      server.stop();
    }
  }),

  'a lost server is told, what is seen stays': withFolder(async (browser, folder) => {
    cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
    const server = await startOwn([folder], ready);
    await on(browser, server.url, '?run=step_500&view=ops', async (page) => {
      await settle(page);
      server.stop();
      await page.getByRole('alert').filter({ hasText: 'No answer from the server since' }).waitFor({ timeout: 20_000 });
      assert.ok((await page.locator('.table-row').count()) > 10);
    });
  }),

  'each page without data says what is missing, and how to record it': withFolder(async (browser, folder) => {
    writeFileSync(
      join(folder, 'one.trace.json'),
      JSON.stringify({ traceEvents: [{ ph: 'X', pid: 1, tid: 1, ts: 0, dur: 80, name: 'alone' }] }),
    );
    const server = await startOwn([folder], ready);
    const said = {
      ops: /1 name takes 80\.0 µs.* holds no ops/,
      kernels: /annotations.*jax\.profiler\.trace.*nsys export/,
      steps: /No steps were found.*StepTraceAnnotation/,
      compiles: /start the capture before/,
      transfers: /host_tracer_level 2/,
      memory: /save_device_memory_profile/,
      hosts: /recorded anything to compare.*block_until_ready/,
      threads: /alone/,
      roofline: /No op has FLOPs.*\.xplane\.pb/,
      hlo: /XLA_FLAGS/,
    };
    try {
      await on(browser, server.url, '', async (page) => {
        for (const [view, words] of Object.entries(said)) {
          await page.goto(`${server.url}?run=one&view=${view}`);
          await settle(page);
          assert.match((await page.locator('main').innerText()).replaceAll(/\s+/g, ' '), words, view);
        }
      });
    } finally {
      server.stop();
    }
  }),

  'a run of which nothing can be read says why, and calls no file whole': withFolder(async (browser, folder) => {
    writeFileSync(
      join(folder, 'old.heap'),
      'heap profile:     3:     4096 [    10:    65536] @ heapprofile\n' +
        '     1:     1024 [     2:     2048] @ 0x1 0x2\n',
    );
    const server = await startOwn([folder], ready);
    const why = 'A heap profile of gperftools as text';
    try {
      const { runs } = await fetch(`${server.url}api/runs`).then((reply) => reply.json());
      for (const [view, words] of [
        ['files', /^1 file, 1\d\d.B, not read\./],
        ['ops', /^No file of the run could be read\./],
      ])
        await on(browser, server.url, `?run=${encodeURIComponent(runs[0].name)}&view=${view}`, async (page) => {
          await settle(page);
          assert.match(await page.locator('main .sentence').innerText(), words);
          await page.locator('main p.error', { hasText: why }).waitFor();
        });
    } finally {
      server.stop();
    }
  }),

  'a capture of nothing has no shares': withFolder(async (browser, folder) => {
    writeFileSync(
      join(folder, 'none.trace.json'),
      JSON.stringify({ traceEvents: [{ ph: 'i', s: 't', pid: 1, tid: 1, ts: 0, name: 'alone' }] }),
    );
    const server = await startOwn([folder], ready);
    try {
      await on(browser, server.url, '?run=none&view=overview', async (page) => {
        await page.getByText('the profile holds no event that takes time').waitFor();
        await settle(page);
        assert.equal(await page.locator('.legend').count(), 0);
      });
    } finally {
      server.stop();
    }
  }),

  'names are hostile': withFolder(async (browser, folder) => {
    mkdirSync(join(folder, 'a & b'), { recursive: true });
    writeFileSync(join(folder, 'a & b', '<i>x.trace.json'), hostileTrace());
    const server = await startOwn([folder], ready);
    try {
      const { runs } = await fetch(`${server.url}api/runs`).then((reply) => reply.json());
      const run = encodeURIComponent(runs[0].name);
      for (const view of ['overview', 'timeline', 'ops&by=name', 'flame&by=track', 'files'])
        await on(browser, server.url, `?run=${run}&view=${view}`, async (page, { complaints }) => {
          await settle(page);
          assert.deepEqual(complaints, [], view);
          assert.equal(await page.locator('main img, main b, main i').count(), 0, view);
          if (!view.startsWith('ops')) return;
          const names = await page.locator('.table-row [role=gridcell]:first-child').allInnerTexts();
          assert.ok(names.includes('(no name)'), 'an empty name has words');
          assert.ok(names.includes('<img src=x onerror=alert(1)>'));
          assert.ok(
            names.some((name) => name.includes('\ufffd')),
            'controls are replaced',
          );
          assert.ok(
            names.every((name) => name.length <= 512),
            'long names are cut',
          );
        });
    } finally {
      server.stop();
    }
  }),

  'a hundred payloads are text on every page, in menus, tooltips, the palette, filters and comparisons': withFolder(
    async (browser, folder) => {
      const all = payloads();
      assert.ok(all.length >= 100);
      const events = all.map((name, index) => ({
        ph: 'X',
        pid: 1 + (index % 3),
        tid: 1 + (index % 5),
        ts: index * 100,
        dur: 80,
        cat: name,
        name,
        args: { [name]: name, long_name: name, tf_op: name, source: name, hlo_module: name },
      }));
      for (const pid of [1, 2, 3])
        events.push(
          { ph: 'M', pid, name: 'process_name', args: { name: all[pid] } },
          { ph: 'M', pid, tid: pid, name: 'thread_name', args: { name: all[pid + 10] } },
        );
      for (const run of ['<img src=x onerror=globalThis.hit=1>_1', '"><svg onload=globalThis.hit=1>_2']) {
        mkdirSync(join(folder, run), { recursive: true });
        writeFileSync(join(folder, run, '<b>x.trace.json'), JSON.stringify({ traceEvents: events }));
      }
      const server = await startOwn([folder], ready);
      try {
        const { runs } = await fetch(`${server.url}api/runs`).then((reply) => reply.json());
        const run = encodeURIComponent(runs[0].name);
        const clean = async (page, complaints, where) => {
          assert.deepEqual(complaints, [], where);
          const found = await page.evaluate(() => ({
            hit: globalThis.hit ?? null,
            tags: [
              ...document.querySelectorAll(
                '#app :is(img, b, iframe, object, embed, marquee, base, form, style, math, video, audio, source)',
              ),
            ].map((one) => one.outerHTML.slice(0, 80)),
            handlers: [...document.querySelectorAll('#app *')].flatMap((one) =>
              [...one.attributes]
                .filter(
                  (attribute) =>
                    /^on/.test(attribute.name) ||
                    (/^(href|src|action|formaction|srcdoc|xlink:href)$/.test(attribute.name) &&
                      /^\s*(javascript|data|vbscript):/i.test(attribute.value)),
                )
                .map((attribute) => attribute.value),
            ),
            links: [...document.querySelectorAll('#app a[href]')]
              .map((one) => one.protocol)
              .filter((protocol) => protocol !== 'http:'),
          }));
          assert.deepEqual(found, { hit: null, tags: [], handlers: [], links: [] }, where);
        };
        const opened = await openPage(browser, server.url);
        const { page, complaints } = opened;
        for (const view of [
          'overview',
          'timeline',
          'ops&by=name',
          'ops&by=track&group=kind',
          'flame&by=track',
          'steps',
          'hosts',
          'files',
        ]) {
          await page.goto(`${server.url}?run=${run}&view=${view}`);
          await settle(page);
          await clean(page, complaints, view);
        }
        await page.goto(`${server.url}?run=${run}&view=ops&by=name`);
        await settle(page);
        const told = new Set(
          (await fetch(`${server.url}api/top?run=${run}&by=name&limit=1000`).then((reply) => reply.json())).rows.map(
            (row) => row.name,
          ),
        );
        assert.ok(all.filter((name) => told.has(name)).length >= 95, 'the names reached the table');
        await page.locator('.table-row [role=gridcell]').first().hover();
        await page.locator('.tooltip').waitFor();
        await page.keyboard.press('Control+k');
        await page.locator('.palette [role=option]').first().waitFor();
        await clean(page, complaints, 'tooltip and palette');
        await page.keyboard.press('Escape');
        for (const query of [
          `?view=runs&group=name&q=${encodeURIComponent(all[3])}`,
          '?view=runs',
          `?view=compare&a=${run}&b=${encodeURIComponent(runs[1].name)}`,
          `?run=${encodeURIComponent(all[0])}`,
          `?run=${run}&view=ops&q=${encodeURIComponent(`${all[4]} nope=3`)}`,
          `?run=${run}&view=timeline&find=${encodeURIComponent(all[6])}&mark=0-100:${encodeURIComponent(all[7])}`,
        ]) {
          await page.goto(server.url + query);
          await settle(page);
          await clean(
            page,
            complaints.filter((one) => !/status of 40[04]/.test(one)),
            query,
          );
        }
        assert.deepEqual(opened.foreign, [], 'requests that leave the origin');
        await opened.context.close();
      } finally {
        server.stop();
      }
    },
  ),

  'a file that is no profile fails alone, with its reason': withFolder(async (browser, folder) => {
    cpSync(SAMPLE, join(folder, 'step_500'), { recursive: true });
    writeFileSync(join(folder, 'broken.xplane.pb'), Buffer.from('0a', 'hex'));
    const server = await startOwn([folder], ready);
    try {
      await on(browser, server.url, '?view=runs', async (page) => {
        await settle(page);
        const rows = await page.locator('.table-row').allInnerTexts();
        assert.equal(rows.length, 2);
        assert.ok(
          rows.some((row) => row.includes('step_500') && /\d\.\d/.test(row)),
          'the other run is whole',
        );
        const reason = await page.locator('.table-row', { hasText: 'failed' }).locator('[aria-colspan]').innerText();
        assert.ok(reason.length > 10, reason);
      });
    } finally {
      server.stop();
    }
  }),
};
