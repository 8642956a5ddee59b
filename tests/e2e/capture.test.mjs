/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run are recorded from the list of runs; what comes opens; what fails says why. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertAccessible } from './axe.mjs';
import { openPage, settle } from './browser.mjs';
import { ready, startOwn } from './server.mjs';

const SAMPLES = fileURLToPath(new URL('../samples', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../http/profiler_server.mjs', import.meta.url));
const PROFILE = join(
  SAMPLES,
  'step_1000',
  readdirSync(join(SAMPLES, 'step_1000'), { recursive: true })
    .map(String)
    .find((name) => name.endsWith('.xplane.pb')),
);

/* A program that runs a profiler server of one kind; its port. */
function program(kind) {
  const child = spawn(process.execPath, [PROGRAM, kind, PROFILE], { stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve) =>
    child.stdout.once('data', (line) => resolve({ port: Number(String(line).trim()), stop: () => child.kill() })),
  );
}

function on(flags, kinds, body) {
  return async ({ browser }) => {
    const folder = mkdtempSync(join(tmpdir(), 'jviewd-capture-'));
    cpSync(join(SAMPLES, 'step_500'), join(folder, 'step_500'), { recursive: true });
    const programs = await Promise.all(kinds.map(program));
    const named = programs.map((one) => `127.0.0.1:${one.port}`).join(',');
    const server = await startOwn([folder, ...flags.map((flag) => flag.replace('THESE', named))], ready);
    const opened = await openPage(browser, server.url);
    try {
      await opened.page.goto(`${server.url}?view=runs`);
      await settle(opened.page);
      await body({ ...opened, ports: programs.map((one) => one.port) });
      assert.deepEqual(
        opened.complaints.filter((line) => !line.includes('status of 400')),
        [],
      );
    } finally {
      await opened.context.close();
      server.stop();
      programs.forEach((one) => one.stop());
      rmSync(folder, { recursive: true });
    }
  };
}

export const tests = {
  'a program is recorded, and its run opens': on(['--allow-capture=THESE'], ['good'], async ({ page, ports }) => {
    await page.getByRole('button', { name: 'Capture…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Capture running programs' });
    await dialog.getByLabel('programs').fill(`127.0.0.1:${ports[0]}`);
    await dialog.getByRole('spinbutton').fill('0.3');
    await dialog.getByRole('button', { name: 'Record' }).click();
    await dialog.getByRole('list', { name: 'Programs' }).getByText(`127.0.0.1:${ports[0]}`).waitFor();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('run'));
    await page.getByText('A step takes').waitFor();
    assert.equal(await dialog.count(), 0);
  }),

  'what fails says why, of each program; one that is silent is given up by hand': on(
    ['--allow-capture=THESE'],
    ['busy', 'silent'],
    async ({ page, ports }) => {
      await page.getByRole('button', { name: 'Capture…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Capture running programs' });
      await assertAccessible(page);
      await dialog.getByLabel('programs').fill('nowhere');
      await dialog.getByRole('button', { name: 'Record' }).click();
      await dialog
        .getByRole('alert')
        .getByText(/nowhere/)
        .waitFor();
      await dialog.getByLabel('programs').fill(ports.map((port) => `127.0.0.1:${port}`).join(', '));
      await dialog.getByRole('spinbutton').fill('0.2');
      await dialog.getByRole('button', { name: 'Record' }).click();
      await dialog
        .locator('li', { hasText: `127.0.0.1:${ports[0]}` })
        .getByText(/Another profiling session/)
        .waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.getByText('No profile came.').waitFor();
      await dialog.getByRole('button', { name: 'Another' }).click();
      await dialog.getByRole('button', { name: 'Record' }).waitFor();
    },
  ),

  'a server that records nothing has no button': on([], [], async ({ page }) => {
    await page.getByRole('button', { name: 'Open a file' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Capture…' }).count(), 0);
  }),
};
