/* What the server tells by itself: runs that came or changed, progress of indexing; and whether it
 * answers at all.
 *
 *   lost   every try waits twice as long as the one before, 1 to 30 s; the bar counts down
 *   hidden a tab that nobody sees holds no stream
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

const SETTLE_MS = 400;
const WAIT_MS_MIN = 1000;
const WAIT_MS_MAX = 30_000;

let settleTimer = 0;
let tryTimer = 0;
let waitMs = WAIT_MS_MIN;
let source: EventSource | null = null;

function take(text: string): void {
  const told = parseExact(text) as Partial<Run> | { runs: Partial<Run>[] };
  const next = new Map(runEvents.value);
  for (const run of 'runs' in told ? told.runs : [told as Partial<Run>])
    if (run.id) next.set(run.id, { ...next.get(run.id), ...run });
  runEvents.value = next;
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
  waitMs = WAIT_MS_MIN;
  open();
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
    take(event.data as string);
  });
  stream.addEventListener('run', (event) => {
    take(event.data as string);
    if (greeted) settle();
  });
  stream.onerror = () => {
    stream.close();
    lostSince.value ??= new Date();
  };
}

export function listen(): void {
  open();
  lostSince.subscribe((since) => since !== null && schedule());
  addEventListener('pagehide', () => source?.close());
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) source?.close();
    else if (source?.readyState === EventSource.CLOSED && lostSince.value === null) {
      open();
      settle();
    }
  });
}
