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
  const told = parseExact(text) as Partial<Run> | { runs: Partial<Run>[] };
  const next = new Map(runEvents.value);
  for (const run of 'runs' in told ? told.runs : [told as Partial<Run>])
    if (run.id) next.set(run.id, { ...next.get(run.id), ...run });
  runEvents.value = next;
}

function settle(): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    forget();
    runsTick.value++;
  }, SETTLE_MS);
}

/* A new stream begins with every run as it is, then a `progress`; after that, changes. */
export function listen(): void {
  const source = new EventSource('api/events');
  let wasLost = false;
  let greeted = false;
  source.addEventListener('progress', (event) => {
    greeted = true;
    take(event.data as string);
  });
  source.addEventListener('run', (event) => {
    take(event.data as string);
    if (greeted) settle();
  });
  source.onopen = () => {
    lostSince.value = null;
    if (wasLost) settle();
    wasLost = false;
  };
  source.onerror = () => {
    wasLost = true;
    greeted = false;
    if (source.readyState === EventSource.CONNECTING) lostSince.value ??= new Date();
  };
  addEventListener('pagehide', () => source.close());
}
