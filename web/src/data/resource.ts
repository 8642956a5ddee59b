/* SPDX-License-Identifier: Apache-2.0 */
/* A reply as a component sees it: the data, or the last one while the next comes.
 *
 * Replies of a run never change while its content stays, so they are kept; `forget` empties the
 * shelf when the server says that a run was indexed again. A run that is still being indexed
 * answers 503 with its progress: asked again after a moment.
 */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { address, getJson, Problem, type Params } from './api';

export interface Resource<T> {
  data: T | null;
  error: Error | null;
  waiting: boolean; // the data is not (yet) that of the question
  progress: unknown; // of an indexing run
}

const SHELF_MAX = 120;
const ITEMS_MAX = 60_000;
const RETRY_MS = 1000;

const shelf = new Map<string, unknown>();
let shelved = 0; // items on it
/* How often everything, and each reply, was forgotten: whoever shows one asks again. */
const forgotten = signal<ReadonlyMap<string, number>>(new Map());
const EVERYTHING = '*';

function count(key: string): void {
  const next = new Map(forgotten.value);
  forgotten.value = next.set(key, (next.get(key) ?? 0) + 1);
}

export function forget(): void {
  asked.clear();
  shelf.clear();
  shelved = 0;
  count(EVERYTHING);
}

/* One reply alone; what else is on its way goes on. */
export function forgetOne(path: string, params: Params): void {
  const key = address(path, params);
  asked.delete(key);
  if (shelf.has(key)) drop(key);
  count(key);
}

/* Rows, tracks, nodes: what makes a reply large. */
function itemsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const lists = Object.values(value).reduce(
    (sum: number, one: unknown) => sum + (Array.isArray(one) ? one.length : 1),
    0,
  );
  return lists + Number((value as { node_count?: number }).node_count ?? 0);
}

function drop(key: string): void {
  shelved -= itemsOf(shelf.get(key));
  shelf.delete(key);
}

function keep(key: string, value: unknown): void {
  if (shelf.has(key)) drop(key);
  shelf.set(key, value);
  shelved += itemsOf(value);
  while (shelf.size > 1 && (shelf.size > SHELF_MAX || shelved > ITEMS_MAX)) drop(shelf.keys().next().value!);
}

/* What a run was when it was last asked for: with other contents all that is shelved of it is old. */
const contents = new Map<string, string>();

function renew({ id, content_id: content }: { id: string; content_id: string | null }): void {
  if (content === null) return;
  if ((contents.get(id) ?? content) !== content) {
    shelf.clear();
    shelved = 0;
  }
  contents.set(id, content);
}

/* `latest` is asked for once: the page goes on under the name that it has. */
function takeRun(params: Params, run: { id: string; name: string; content_id: string | null }): void {
  renew(run);
  if (String(params.run).startsWith('latest')) keep(address('api/run', { ...params, run: run.name }), run);
}

/* What is on its way: every row of a list may ask the same, and one question is enough. It is given up
 * when nobody waits for it any more; once forgotten, who asks later asks anew. */
interface Asked {
  answer: Promise<unknown>;
  abort: AbortController;
  waiting: number;
}
const asked = new Map<string, Asked>();

function ask(path: string, params: Params, key: string): Asked {
  const abort = new AbortController();
  const one: Asked = { abort, waiting: 0, answer: Promise.resolve() };
  const done = (): boolean => asked.get(key) === one && asked.delete(key);
  one.answer = getJson(path, params, abort.signal).then(
    (value) => {
      if (!done()) return value; // forgotten meanwhile: for those who waited
      if (path === 'api/run') takeRun(params, value as { id: string; name: string; content_id: string | null });
      keep(key, value);
      return value;
    },
    (error: Error) => {
      done();
      throw error;
    },
  );
  asked.set(key, one);
  return one;
}

export async function loadJson<T>(path: string, params: Params = {}, abort?: AbortSignal): Promise<T> {
  const key = address(path, params);
  if (shelf.has(key)) return shelf.get(key) as T;
  const one = asked.get(key) ?? ask(path, params, key);
  one.waiting++;
  const leave = (): void => {
    one.waiting--;
    queueMicrotask(() => {
      // who comes in this place of the page may ask the same
      if (one.waiting > 0) return;
      if (asked.get(key) === one) asked.delete(key);
      one.abort.abort();
    });
  };
  abort?.addEventListener('abort', leave, { once: true });
  try {
    const value = (await one.answer) as T;
    abort?.throwIfAborted(); // others waited on
    return value;
  } finally {
    abort?.removeEventListener('abort', leave);
  }
}

function wait(ms: number, abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    abort.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

/* `path` null: nothing is asked. */
export function useJson<T>(path: string | null, params: Params = {}): Resource<T> {
  const key = path === null ? null : address(path, params);
  const seen = (forgotten.value.get(EVERYTHING) ?? 0) + (forgotten.value.get(key ?? '') ?? 0);
  /* Who shows a reply holds it, also when the shelf makes room. */
  const held = useRef<{ key: string; seen: number; value: T } | null>(null);
  if (key !== null && shelf.has(key)) held.current = { key, seen, value: shelf.get(key) as T };
  const shelved = held.current?.key === key && held.current.seen === seen ? held.current.value : null;
  const [state, setState] = useState<Resource<T> & { key: string | null; seen: number }>({
    data: null,
    error: null,
    waiting: false,
    progress: null,
    key: null,
    seen: 0,
  });

  /* Asked with the first drawing, not after it was painted: a page is a chain of questions. */
  useLayoutEffect(() => {
    if (path === null || shelved !== null) return;
    const controller = new AbortController();
    const load = async (): Promise<void> => {
      for (;;) {
        try {
          const data = await loadJson<T>(path, params, controller.signal);
          setState({ data, error: null, waiting: false, progress: null, key, seen });
          return;
        } catch (error) {
          if (controller.signal.aborted) return;
          const indexing = error instanceof Problem && error.indexing;
          setState((last) => ({
            data: indexing ? last.data : null,
            error: indexing ? null : (error as Error),
            waiting: indexing,
            progress: indexing ? error.body.progress : null,
            key,
            seen,
          }));
          if (!indexing) return;
          await wait(RETRY_MS, controller.signal);
        }
      }
    };
    void load();
    return () => controller.abort();
  }, [key, seen]);

  if (key === null) return { data: null, error: null, waiting: false, progress: null };
  if (shelved !== null) return { data: shelved, error: null, waiting: false, progress: null };
  if (state.key !== key) return { data: state.data, error: null, waiting: true, progress: null };
  return state.seen === seen ? state : { ...state, waiting: true }; // asked again
}
