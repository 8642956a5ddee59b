/* SPDX-License-Identifier: Apache-2.0 */
/* What people wrote of runs: notes, tags, short links. Each change forgets what was asked before. */
import { address, Problem, type Params } from './api';
import { parseExact, type Ps } from './json';
import { forgetOne, useJson, type Resource } from './resource';
import type { Note } from './types';

export interface UserNote {
  id: string | null; // null: it came with a bundle, and is not imported
  origin: 'here' | 'bundle';
  run: string;
  start_ps: Ps | null;
  end_ps: Ps | null;
  track: string | null;
  text: string;
  changed_at: string;
}

export interface About {
  name: string | null;
  step: number | null;
  commit: string | null;
  tags: string[];
  notes: string[];
  metrics: { name: string; value: number }[];
}

export interface UserNotes {
  about: About | null;
  tags: { tag: string; content_id: string; origin: 'here' | 'bundle' }[];
  rows: UserNote[];
  notes: Note[];
}

export const useNotes = (id: string | null): Resource<UserNotes> =>
  useJson<UserNotes>(id === null ? null : 'api/notes', { run: id });
/* Of every run: one question for a whole list. */
export const useAllNotes = (): Resource<UserNotes> => useJson<UserNotes>('api/notes');

async function send(
  method: 'POST' | 'DELETE',
  path: string,
  params: Params,
  body: object | null,
): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = { 'X-Jviewd-CSRF': '1' };
  if (body !== null) headers['Content-Type'] = 'application/json';
  const reply = await fetch(address(path, params), {
    method,
    headers,
    body: body === null ? null : JSON.stringify(body),
    credentials: 'same-origin',
  });
  const said = parseExact(await reply.text()) as Record<string, unknown>;
  if (!reply.ok) throw new Problem(reply.status, said);
  return said;
}

async function changeNotes(run: string, method: 'POST' | 'DELETE', params: Params, body: object | null): Promise<void> {
  await send(method, 'api/notes', params, body);
  forgetOne('api/notes', { run });
  forgetOne('api/notes', {});
}

/* Picoseconds pass a double's 53 bits after two and a half hours: such a window is not sent wrong. */
export function writeNote(run: string, text: string, span: { start: bigint; end: bigint } | null): Promise<void> {
  if (span !== null && !(Number.isSafeInteger(Number(span.start)) && Number.isSafeInteger(Number(span.end))))
    return Promise.reject(new Error('The range is too far from the start of the run.'));
  return changeNotes(
    run,
    'POST',
    {},
    { run, text, ...(span === null ? {} : { start_ps: Number(span.start), end_ps: Number(span.end) }) },
  );
}
export const removeNote = (run: string, id: string): Promise<void> => changeNotes(run, 'DELETE', { id }, null);
export const addTag = (run: string, tag: string): Promise<void> => changeNotes(run, 'POST', {}, { run, tag });
export const importNotes = (run: string): Promise<void> => changeNotes(run, 'POST', {}, { run, import: 'bundle' });
export const removeTag = (run: string, tag: string): Promise<void> => changeNotes(run, 'DELETE', { run, tag }, null);

export async function shortLink(search: string): Promise<string> {
  const made = await send('POST', 'api/links', {}, { address: search });
  return new URL(String(made.path), document.baseURI).href;
}
