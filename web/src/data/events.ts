/* What the server tells by itself: runs that came or changed, progress of indexing. */
import { signal } from '@preact/signals';
import { lostSince } from './api';
import { parseExact } from './json';
import { forget } from './resource';
import type { Run } from './types';

/* Grows whenever a run changed; lists and pages that show runs ask again. */
export const runsTick = signal(0);
export const runEvents = signal<ReadonlyMap<string, Partial<Run>>>(new Map());

const SETTLE_MS = 400;
let timer = 0;

function take(text: string): void {
  const event = parseExact(text) as Partial<Run> & { run?: Partial<Run> | string };
  const run = typeof event.run === 'object' ? event.run : { ...event, id: typeof event.run === 'string' ? event.run : event.id };
  if (!run.id) return;
  const before = runEvents.value.get(run.id);
  runEvents.value = new Map(runEvents.value).set(run.id, { ...before, ...(run as Partial<Run>) });
}

function settle(): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    forget();
    runsTick.value++;
  }, SETTLE_MS);
}

export function listen(): void {
  const source = new EventSource('api/events');
  let wasLost = false;
  source.addEventListener('progress', (event) => take(event.data as string));
  source.addEventListener('run', (event) => {
    take(event.data as string);
    settle();
  });
  source.onopen = () => {
    lostSince.value = null;
    if (wasLost) settle();
    wasLost = false;
  };
  source.onerror = () => {
    wasLost = true;
    if (source.readyState === EventSource.CONNECTING) lostSince.value ??= new Date();
  };
  addEventListener('pagehide', () => source.close());
}
