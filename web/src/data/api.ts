/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the server: one function for JSON, one for bytes.
 *
 * Addresses are relative to the page, so that the program works below any prefix. A failure is a
 * Problem: what the server said (problem+json), or that it did not answer at all.
 */
import { signal } from '@preact/signals';
import { parseExact } from './json';

export type ParamValue = string | number | bigint | boolean | null | undefined;
export type Params = Record<string, ParamValue>;

export interface Progress {
  done: number;
  total: number;
}

export class Problem extends Error {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.detail ?? body.title ?? `The server answered ${status}.`));
    this.status = status;
    this.type = String(body.type ?? '');
    this.body = body;
  }

  /* It comes by itself. A server that is busy has waited already: what it says is shown instead. */
  get indexing(): boolean {
    return this.status === 503 && this.type !== 'busy';
  }
  get nearest(): string[] {
    return (this.body.nearest as string[] | undefined) ?? [];
  }
  get candidates(): { id: string; name: string }[] {
    return (this.body.candidates as { id: string; name: string }[] | undefined) ?? [];
  }
}

/* When the server was last heard and when it was lost; the bar below the tabs tells it. */
export const lostSince = signal<Date | null>(null);

/* What the server's clock is ahead of ours: "2 min ago" is by the server's, whose files they are. */
let aheadMs = 0;

export const serverNow = (): Date => new Date(Date.now() + aheadMs);

/* The clock in a reply tells whole seconds, so that a difference below two says nothing. */
function compareClocks(response: Response): void {
  const told = Date.parse(response.headers.get('Date') ?? '');
  const ahead = told + 500 - Date.now();
  if (!Number.isNaN(told)) aheadMs = Math.abs(ahead) < 2000 ? 0 : ahead;
}

/* Questions that wait for long, by when they were asked: the bar says so, and that they go on. */
const SLOW_MS = 11_000; // a question of a run that is being read waits ten by itself
export const slowSince = signal<ReadonlySet<number>>(new Set());

function watchSlow(): () => void {
  const asked = Date.now();
  const timer = setTimeout(() => (slowSince.value = new Set([...slowSince.value, asked])), SLOW_MS);
  return () => {
    clearTimeout(timer);
    if (slowSince.value.has(asked)) slowSince.value = new Set([...slowSince.value].filter((one) => one !== asked));
  };
}

export function address(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/* Who answers: the server, or a page that carries its answers (bundle/). */
let answer = (text: string, abort?: AbortSignal): Promise<Response> =>
  fetch(text, { signal: abort ?? null, credentials: 'same-origin' });

export const askBy = (other: typeof answer): void => void (answer = other);

async function ask(path: string, params: Params, abort?: AbortSignal): Promise<Response> {
  let response: Response;
  const answered = watchSlow();
  try {
    response = await answer(address(path, params), abort);
  } catch (error) {
    if (!abort?.aborted) lostSince.value ??= new Date();
    throw error;
  } finally {
    answered();
  }
  lostSince.value = null;
  compareClocks(response);
  if (response.ok) return response;
  const text = await response.text();
  let body: Record<string, unknown> = { detail: text.slice(0, 400) };
  try {
    body = parseExact(text) as Record<string, unknown>;
  } catch {
    body.title = `The server answered ${response.status} ${response.statusText}`;
  }
  throw new Problem(response.status, body);
}

export async function getJson<T>(path: string, params: Params = {}, abort?: AbortSignal): Promise<T> {
  const response = await ask(path, params, abort);
  return parseExact(await response.text()) as T;
}

export async function getBytes(path: string, params: Params = {}, abort?: AbortSignal): Promise<ArrayBuffer> {
  const response = await ask(path, params, abort);
  return response.arrayBuffer();
}

/* The same with the bytes counted as they come, for what may be large. */
export async function getBytesCounted(
  path: string,
  params: Params,
  onProgress: (done: number) => void,
  abort?: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await ask(path, params, abort);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let done = 0;
  const reader = response.body!.getReader();
  for (;;) {
    const piece = await reader.read();
    if (piece.done) break;
    pieces.push(piece.value as Uint8Array<ArrayBuffer>);
    done += piece.value.length;
    onProgress(done);
  }
  return new Blob(pieces).arrayBuffer();
}
