/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of running programs, which the server asks for: may it, how far it is, and the asking. */
import { signal } from '@preact/signals';
import { getJson, Problem } from './api';
import { parseExact } from './json';

export interface CaptureTarget {
  target: string;
  state: 'recording' | 'receiving' | 'done' | 'failed';
  bytes: number;
  problem: string | null;
}

export interface Capture {
  state: CaptureTarget['state'];
  seconds: number; // since it was asked for
  ms: number; // how long is recorded
  directory: string;
  targets: CaptureTarget[];
}

export interface CaptureState {
  allowed: boolean;
  reason: string | null;
  capture: Capture | null; // the last one
}

const LOOK_MS = 400;

/* Null: not yet asked. */
export const captured = signal<CaptureState | null>(null);

export const isUnderWay = (capture: Capture | null | undefined): boolean =>
  capture?.state === 'recording' || capture?.state === 'receiving';

let timer = 0;

function take(state: CaptureState): void {
  captured.value = state;
  clearTimeout(timer);
  if (isUnderWay(state.capture)) timer = window.setTimeout(() => void lookAtCapture().catch(() => undefined), LOOK_MS);
}

/* Again by itself while one is under way. */
export const lookAtCapture = (): Promise<void> => getJson<CaptureState>('api/capture').then(take);

async function send(method: 'POST' | 'DELETE', body: object | null): Promise<void> {
  const headers: Record<string, string> = { 'X-Jviewd-CSRF': '1' };
  if (body !== null) headers['Content-Type'] = 'application/json';
  const reply = await fetch('api/capture', {
    method,
    headers,
    body: body === null ? null : JSON.stringify(body),
    credentials: 'same-origin',
  });
  const text = await reply.text();
  if (!reply.ok) throw new Problem(reply.status, parseExact(text) as Record<string, unknown>);
  if (text === '') return lookAtCapture();
  take(parseExact(text) as CaptureState);
}

export const beginCapture = (targets: readonly string[], ms: number, pythonLevel: 0 | 1): Promise<void> =>
  send('POST', { targets: targets.join(' '), ms, python_level: pythonLevel });
export const cancelCapture = (): Promise<void> => send('DELETE', null);
