/* SPDX-License-Identifier: Apache-2.0 */
/* The program under test: $JVIEWD_URL when one runs already, else a fresh one over the samples. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const START_MS = 60_000;

/* A connection that was closed while it lay idle is no answer: what only asks, asks again. */
const ask = globalThis.fetch;
globalThis.fetch = (address, options) =>
  ask(address, options).catch((error) => {
    if ((options?.method ?? 'GET') !== 'GET') throw error;
    return ask(address, options);
  });

function binary() {
  const places = [process.env.JVIEWD, join(root, 'build/release/jviewd'), process.env.JVIEWD_DEV];
  const found = places.find((place) => place && existsSync(place));
  if (!found) {
    console.log('skipped: no jviewd is built; ./dev build makes build/release/jviewd');
    process.exit(77);
  }
  return found;
}

/* Reads the address that the program prints. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the server did not start:\n${said}`)), START_MS);
    const take = (piece) => {
      said += piece;
      const found = /https?:\/\/[^\s"]+:\d+\//.exec(said);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}:\n${said}`)));
  });
}

export async function ready(url, patience = START_MS) {
  const begin = Date.now();
  for (;;) {
    const runs = await fetch(`${url}api/runs?limit=1000`).then((reply) => reply.json());
    const busy = runs.runs.filter((run) => ['queued', 'indexing', 'writing'].includes(run.state));
    if (runs.scan.state === 'idle' && runs.runs.length > 0 && busy.length === 0) return;
    if (Date.now() - begin > patience) throw new Error(`still busy: ${busy.map((run) => run.name).join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/* A port that no other server here was or will be given, so that one that ended can begin again on its
 * own; below those that the system gives to connections, above those that programs choose by themselves. */
const PORTS = [20_000, 32_000];
const given = new Set();
async function portOfItsOwn() {
  for (;;) {
    const port = randomInt(...PORTS);
    if (given.has(port)) continue;
    given.add(port);
    const isFree = await new Promise((resolve) => {
      const probe = createServer().once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/* The samples, or the server that runs already. */
export async function startServer() {
  if (process.env.JVIEWD_URL) return { url: process.env.JVIEWD_URL.replace(/\/?$/, '/'), stop: () => undefined };
  return startOwn([join(root, 'tests/samples')], ready);
}

/* A server of one's own over `paths` (and flags); `until` waits for what it should have found; `ui` and
 * `path` (of programs) as someone at a desk has them; `port` and `keep` (a cache that outlives it) to
 * start it again. */
export async function startOwn(
  paths,
  until = async () => undefined,
  { ui = 'none', path = process.env.PATH, port = null, keep = null } = {},
) {
  const cache = keep ?? mkdtempSync(join(tmpdir(), 'jviewd-e2e-'));
  const child = spawn(
    binary(),
    [...paths, '--port', String(port ?? (await portOfItsOwn())), '--cache-dir', cache, '--data-dir', cache, '--ui', ui],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PATH: path } },
  );
  const stop = () => {
    child.removeAllListeners('exit');
    child.kill('SIGTERM');
    if (keep === null) rmSync(cache, { recursive: true, force: true });
  };
  /* At once, as a machine does that loses power. */
  const kill = () => {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    return ended;
  };
  try {
    const url = await addressOf(child);
    await until(url);
    return { url, stop, kill, pid: child.pid };
  } catch (error) {
    stop();
    throw error;
  }
}
