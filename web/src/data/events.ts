/* SPDX-License-Identifier: Apache-2.0 */
/* What the server tells by itself: runs that came or changed, progress of indexing; and whether it
 * answers at all.
 *
 *   one stream  of all tabs that are seen, one holds it and passes on what it hears: a browser has six
 *               connections to a server, and a stream would keep one of them in each tab
 *   hidden      a tab that nobody sees neither holds it nor waits for it
 *   lost        every try waits twice as long as the one before, 1 to 30 s; the bar counts down
 *
 * Who holds the stream has the lock; it is free when that tab closes, hides or dies. Where a page may
 * not have locks (plain http from afar) each tab holds its own.
 */
import { signal } from '@preact/signals';
import { lostSince } from './api';
import { parseExact } from './json';
import { forget } from './resource';
import type { Run } from './types';

/* Grows whenever a run changed; lists and pages that show runs ask again. */
export const runsTick = signal(0);
export const runEvents = signal<ReadonlyMap<string, Partial<Run>>>(new Map());
/* When the server is asked next; null while it answers. */
export const nextTry = signal<number | null>(null);

type Passed =
  | { what: 'told'; text: string; isNews: boolean } // news: after the greeting, so somebody's page is old
  | { what: 'known'; runs: readonly (readonly [string, Partial<Run>])[] } // all, for who came later
  | { what: 'hello' }
  | { what: 'changed' }
  | { what: 'lost' };

const TAKE_MS = 50;
const SETTLE_MS = 400;
const WAIT_MS_MIN = 1000;
const WAIT_MS_MAX = 30_000;
const PLACE = `jviewd-events ${new URL('.', location.href).href}`;

let untaken: Partial<Run>[] = [];
let takeTimer = 0;
let settleTimer = 0;
let tryTimer = 0;
let waitMs = WAIT_MS_MIN;
let source: EventSource | null = null; // of the tab that holds the stream
let holds: (() => void) | null = null; // gives the lock back
let waits: AbortController | null = null; // for the lock
let channel: BroadcastChannel | null = null;

const pass = (message: Passed): void => channel?.postMessage(message);

/* Thousands of runs may be told at once, and each view of them is drawn once for all. */
function takeAll(): void {
  clearTimeout(takeTimer);
  takeTimer = 0;
  if (untaken.length === 0) return;
  const next = new Map(runEvents.value);
  for (const run of untaken) if (run.id) next.set(run.id, { ...next.get(run.id), ...run });
  untaken = [];
  runEvents.value = next;
}

function take(text: string): void {
  const told = parseExact(text) as Partial<Run> | { runs: Partial<Run>[] };
  untaken.push(...('runs' in told ? told.runs : [told as Partial<Run>]));
  takeTimer ||= window.setTimeout(takeAll, TAKE_MS);
}

function settle(): void {
  clearTimeout(settleTimer);
  settleTimer = window.setTimeout(() => {
    forget();
    runsTick.value++;
  }, SETTLE_MS);
}

function schedule(): void {
  if (nextTry.value !== null) return;
  nextTry.value = Date.now() + waitMs;
  tryTimer = window.setTimeout(() => void tryNow(), waitMs);
  waitMs = Math.min(WAIT_MS_MAX, waitMs * 2);
}

/* Asks whether the server is there again; what is seen is asked anew when it is. */
export async function tryNow(): Promise<void> {
  clearTimeout(tryTimer);
  nextTry.value = null;
  try {
    await fetch('healthz', { cache: 'no-store' });
  } catch {
    return schedule();
  }
  lostSince.value = null;
  if (holds) open();
  else waitMs = WAIT_MS_MIN; // who holds the stream waits longer until it comes: it may be refused
  settle();
}

/* A new stream begins with every run as it is, then a `progress`; after that, changes. */
function open(): void {
  source?.close();
  const stream = new EventSource('api/events');
  let greeted = false;
  source = stream;
  stream.addEventListener('progress', (event) => {
    greeted = true;
    waitMs = WAIT_MS_MIN;
    take(event.data as string);
    pass({ what: 'told', text: event.data as string, isNews: false });
  });
  stream.addEventListener('run', (event) => {
    take(event.data as string);
    pass({ what: 'told', text: event.data as string, isNews: greeted });
    if (greeted) settle();
  });
  stream.onerror = () => {
    stream.close();
    lostSince.value ??= new Date();
    pass({ what: 'lost' });
  };
}

function hear(message: Passed): void {
  if (message.what === 'hello') {
    takeAll();
    if (source) pass({ what: 'known', runs: [...runEvents.value] });
  } else if (message.what === 'known') {
    runEvents.value = new Map([...runEvents.value, ...message.runs]);
  } else if (message.what === 'told') {
    take(message.text);
    if (message.isNews) settle();
  } else if (message.what === 'changed') {
    settle();
  } else if (!document.hidden) {
    lostSince.value ??= new Date();
  }
}

/* Another held it until now: what was told meanwhile nobody heard. */
function lead(release: () => void, isSuccessor: boolean): void {
  holds = release;
  waits = null;
  open();
  if (!isSuccessor) return;
  settle();
  pass({ what: 'changed' });
}

function join(): void {
  if (holds || waits) return;
  if (!('locks' in navigator)) return lead(() => undefined, false);
  const abort = new AbortController();
  waits = abort;
  const asked = performance.now();
  pass({ what: 'hello' });
  navigator.locks
    .request(
      PLACE,
      { signal: abort.signal },
      () =>
        new Promise<void>((release) =>
          abort.signal.aborted ? release() : lead(release, performance.now() - asked > SETTLE_MS),
        ),
    )
    .catch(() => undefined); // given up: the tab was hidden before its turn
}

function leave(): void {
  source?.close();
  source = null;
  waits?.abort();
  waits = null;
  holds?.();
  holds = null;
}

export function listen(): void {
  if ('BroadcastChannel' in window) {
    channel = new BroadcastChannel(PLACE);
    channel.onmessage = (event: MessageEvent<Passed>) => hear(event.data);
  }
  if (!document.hidden) join();
  lostSince.subscribe((since) => since !== null && schedule());
  addEventListener('pagehide', leave);
  addEventListener('pageshow', (event) => event.persisted && !document.hidden && join());
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return leave();
    join();
    if (lostSince.value === null) settle();
  });
}
