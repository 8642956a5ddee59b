/* SPDX-License-Identifier: Apache-2.0 */
/* A table of any length: its pages are asked for as their rows come into sight.
 *
 *   rows    0 ...... 499 | 500 ...... 999 | ...        a page is LIMIT rows
 *   cursor  none           n500                        as the reply before says: `next`
 *
 * Pages that nobody sees are given up, those on their way and, beyond PAGES_MAX, those that came.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address, getJson, type Params } from './api';

const LIMIT = 500;
const PAGES_MAX = 60;
const SETTLE_MS = 60; // of a scroll bar that is dragged

interface Reply<R> {
  rows: R[];
  row_count: number;
  next: string | null;
}

export interface PagedRows<R> {
  count: number;
  at: (index: number) => R | undefined;
  want: (first: number, end: number) => void;
}

export interface Paged<R> {
  pages: PagedRows<R> | null; // null: the first page is not here
  first: readonly R[];
  error: Error | null;
}

/* What has come, and what is on its way. */
class Shelf<R> {
  readonly pages = new Map<number, R[]>();
  readonly asked = new Map<number, AbortController>();
  count: number | null = null;
  error: Error | null = null;
  jumps = false; // the server's cursors count rows, so that any page can be asked for
  private readonly path: string;
  private readonly params: Params;
  private readonly most: number;
  private readonly changed: () => void;

  constructor(path: string, params: Params, most: number, changed: () => void) {
    this.path = path;
    this.params = params;
    this.most = most;
    this.changed = changed;
  }

  at(index: number): R | undefined {
    return this.pages.get(Math.floor(index / LIMIT))?.[index % LIMIT];
  }

  want(first: number, end: number): void {
    const from = Math.floor(first / LIMIT);
    const to = Math.floor(Math.max(first, end - 1) / LIMIT);
    for (const [page, controller] of this.asked) if (page < from || page > to) controller.abort();
    for (let page = from; page <= to; page++) {
      const kept = this.pages.get(page);
      if (kept === undefined) void this.load(page);
      else {
        this.pages.delete(page); // seen last, given up last
        this.pages.set(page, kept);
      }
    }
  }

  stop(): void {
    for (const controller of this.asked.values()) controller.abort();
  }

  private async load(page: number): Promise<void> {
    if (this.asked.has(page) || (page > 0 && !this.jumps)) return;
    const controller = new AbortController();
    this.asked.set(page, controller);
    try {
      const reply = await getJson<Reply<R>>(
        this.path,
        { ...this.params, limit: LIMIT, cursor: page === 0 ? undefined : `n${page * LIMIT}` },
        controller.signal,
      );
      this.take(page, reply);
    } catch (error) {
      if (!controller.signal.aborted) this.error = error as Error;
    } finally {
      this.asked.delete(page);
      if (!controller.signal.aborted) this.changed();
    }
  }

  private take(page: number, reply: Reply<R>): void {
    this.pages.set(page, reply.rows);
    this.error = null;
    if (page === 0) {
      this.jumps = reply.next === `n${LIMIT}`;
      this.count = this.jumps ? Math.min(reply.row_count, this.most) : reply.rows.length;
    }
    for (const old of this.pages.keys()) {
      if (this.pages.size <= PAGES_MAX) break;
      if (old !== 0) this.pages.delete(old);
    }
  }
}

/* `most`: the server goes no further. */
export function usePages<R>(path: string | null, params: Params, most: number): Paged<R> {
  const key = path === null ? null : address(path, params);
  const [version, redraw] = useState(0);
  const shelf = useMemo(
    () => (path === null ? null : new Shelf<R>(path, params, most, () => redraw((tick) => tick + 1))),
    [key],
  );
  const timer = useRef(0);
  useEffect(() => {
    shelf?.want(0, 1);
    return () => {
      clearTimeout(timer.current);
      shelf?.stop();
    };
  }, [shelf]);
  const pages = useMemo<PagedRows<R> | null>(() => {
    if (shelf === null || shelf.count === null) return null;
    return {
      count: shelf.count,
      at: (index) => shelf.at(index),
      want: (first, end) => {
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => shelf.want(first, end), SETTLE_MS);
      },
    };
  }, [shelf, version]);
  return { pages, first: shelf?.pages.get(0) ?? [], error: shelf?.error ?? null };
}
