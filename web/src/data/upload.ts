/* SPDX-License-Identifier: Apache-2.0 */
/* A file on its way to the server: what may be sent, and the sending with its progress. */
import { address, getJson, Problem } from './api';
import { parseExact } from './json';
import type { RunList } from './types';

export interface UploadLimits {
  allowed: boolean;
  reason: string | null;
  file_bytes_max: number;
  all_bytes_max: number;
  bytes: number;
}

export interface Uploaded {
  run: string;
  name: string;
  dir: string; // below the directory of what was brought
  file: string;
  format: string;
  bytes: number;
}

export const uploadLimits = (): Promise<UploadLimits> => getJson<UploadLimits>('api/upload');

function problemOf(request: XMLHttpRequest): Problem {
  try {
    return new Problem(request.status, parseExact(request.responseText) as Record<string, unknown>);
  } catch {
    return new Problem(request.status, { detail: `The server answered ${request.status}.` });
  }
}

/* fetch tells nothing of what was sent, so it is an XMLHttpRequest. */
export function sendFile(
  file: File,
  place: { batch?: string; path?: string },
  onProgress: (sent: number) => void,
  abort: AbortSignal,
): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address('api/upload', { name: file.name, modified_ms: file.lastModified, ...place }));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('X-Jviewd-CSRF', '1');
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () =>
      request.status === 201 ? resolve(parseExact(request.responseText) as Uploaded) : reject(problemOf(request));
    request.onerror = () => reject(new Error('The connection was lost before the file arrived.'));
    request.onabort = () => reject(new Error('Stopped.'));
    abort.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

const LISTED_MS_MAX = 6000;
const LOOK_MS = 150;

/* The runs that a folder became, once the server lists them; their ids. */
export async function runsBelow(batch: string): Promise<string[]> {
  for (let waited = 0; waited < LISTED_MS_MAX; waited += LOOK_MS) {
    const { runs } = await getJson<RunList>('api/runs', { limit: 2000 });
    const found = runs.filter((run) => run.uploaded && run.dir.split('/')[0] === batch);
    if (found.length > 0) return found.map((run) => run.id);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return [];
}

export async function deleteUpload(run: string): Promise<void> {
  const reply = await fetch(address('api/upload', { run }), {
    method: 'DELETE',
    headers: { 'X-Jviewd-CSRF': '1' },
    credentials: 'same-origin',
  });
  if (reply.ok) return;
  throw new Problem(reply.status, parseExact(await reply.text()) as Record<string, unknown>);
}
