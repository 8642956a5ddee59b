/* SPDX-License-Identifier: Apache-2.0 */
/* A file or folder dropped on the page or picked is opened: where it may fall, how far it is, why it
 * was not taken. Files go one after another; one alone opens itself, and so does a folder, which is
 * one run: what in it is no profile is counted, not told by name. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Problem, getJson } from '../../data/api';
import { droppedIn, freeName, type Dropped } from '../../data/folder';
import { go } from '../../data/place';
import { forget } from '../../data/resource';
import type { RunList } from '../../data/types';
import { runsBelow, sendFile, uploadLimits, type UploadLimits } from '../../data/upload';
import { runChange, type Changes } from '../../model/address';
import { plural, share, size } from '../../model/numbers';
import { registerActions } from '../../ui/keys';
import { ProgressBar } from '../../ui/states';
import { Name } from '../../ui/text';

type Sending =
  | { state: 'sending'; name: string; sent: number; bytes: number; place: number; of: number }
  | { state: 'reading'; name: string };

const sending = signal<Sending | null>(null);
const refused = signal<readonly { name: string; reason: string }[]>([]);
const over = signal<'no' | 'asking' | UploadLimits>('no'); // files hang over the page
let stop: AbortController | null = null;

export const openRun = (run: string): Changes => ({
  ...runChange(run),
  view: null,
  q: null,
  sort: null,
  key: null,
  a: null,
  b: null,
});

interface Wish {
  file: File;
  batch?: string;
  path?: string;
}

async function sendOne({ file, ...place }: Wish, at: number, of: number, abort: AbortSignal): Promise<string> {
  const limits = await uploadLimits();
  if (!limits.allowed) throw new Error(limits.reason ?? 'This server does not accept files.');
  if (file.size > limits.file_bytes_max)
    throw new Error(
      `It has ${size(file.size)}; this server takes files up to ${size(limits.file_bytes_max)} (--upload-max).`,
    );
  const tell = (sent: number): void =>
    void (sending.value =
      sent < file.size || file.size === 0
        ? { state: 'sending', name: file.name, sent, bytes: file.size, place: at, of }
        : { state: 'reading', name: file.name });
  tell(0);
  const taken = await sendFile(file, place, tell, abort);
  return place.batch === undefined ? taken.run : taken.dir;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.?$/, '.');

/* Each folder under a name that is free. */
async function wishesOf(dropped: readonly Dropped[]): Promise<Wish[]> {
  if (dropped.every((one) => one.folder === null)) return dropped.map(({ file }) => ({ file }));
  const names = new Set(
    (await getJson<RunList>('api/runs', { limit: 2000 })).runs.flatMap((run) => [run.name, run.dir.split('/')[0]!]),
  );
  const batches = new Map<string, string>();
  for (const { folder } of dropped)
    if (folder !== null && !batches.has(folder)) batches.set(folder, freeName(folder, names));
  return dropped.map(({ file, folder, path }) =>
    folder === null ? { file } : { file, batch: batches.get(folder)!, path },
  );
}

async function send(wishes: readonly Wish[], abort: AbortSignal): Promise<string[]> {
  const runs: string[] = [];
  const folders = new Set<string>();
  let others = 0; // in folders, and no profiles
  for (const [at, wish] of wishes.entries()) {
    if (abort.aborted) break;
    try {
      const taken = await sendOne(wish, at + 1, wishes.length, abort);
      if (wish.batch === undefined) runs.push(taken);
      else folders.add(taken.split('/')[0]!);
    } catch (error) {
      if (wish.batch !== undefined && error instanceof Problem && error.status === 415) others++;
      else
        refused.value = [
          ...refused.value,
          { name: wish.path ?? wish.file.name, reason: sentence((error as Error).message) },
        ];
    }
  }
  if (others > 0 && folders.size === 0)
    refused.value = [
      ...refused.value,
      { name: wishes[0]!.batch ?? '', reason: `None of its ${plural(others, 'file')} is a profile.` },
    ];
  for (const folder of folders) runs.push(...(await runsBelow(folder)));
  return runs;
}

export async function sendFiles(wanted: readonly Dropped[] | Promise<readonly Dropped[]>): Promise<void> {
  if (sending.value !== null) return;
  stop = new AbortController();
  refused.value = [];
  let runs: string[] = [];
  try {
    runs = await send(await wishesOf(await wanted), stop.signal);
  } catch (error) {
    refused.value = [{ name: 'The folder', reason: sentence((error as Error).message) }];
  }
  sending.value = null;
  if (runs.length === 0) return;
  forget();
  go(runs.length === 1 ? openRun(runs[0]!) : { ...openRun(''), view: 'runs' }, 'push');
}

export function UploadBar() {
  const now = sending.value;
  return (
    <>
      {now && (
        <div class="bar" role="status">
          <span>
            {now.state === 'sending' ? 'Sending ' : 'Reading '}
            <Name text={now.name} />
            {now.state === 'sending' &&
              `: ${size(now.sent)} of ${size(now.bytes)}, ${share(now.bytes === 0 ? 1 : now.sent / now.bytes)}`}
            {now.state === 'sending' && now.of > 1 && `, file ${now.place} of ${now.of}`}
          </span>
          {now.state === 'sending' && (
            <>
              <ProgressBar share={now.bytes === 0 ? 1 : now.sent / now.bytes} />
              <button onClick={() => stop?.abort()}>Stop</button>
            </>
          )}
        </div>
      )}
      {refused.value.length > 0 && (
        <div class="bar" role="alert">
          <span>
            {refused.value.map(({ name, reason }) => (
              <span key={name} class="error upload-refused">
                <Name text={name} /> was not taken. {reason}
              </span>
            ))}
          </span>
          <button onClick={() => (refused.value = [])}>Close</button>
        </div>
      )}
    </>
  );
}

const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/* Over the whole page, but only while files hang over it. */
export function DropTarget() {
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    let depth = 0; // dragenter and dragleave come from every element on the way
    const enter = (event: DragEvent): void => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      if (depth++ > 0) return;
      over.value = 'asking';
      void uploadLimits().then(
        (limits) => (over.value === 'asking' ? (over.value = limits) : undefined),
        () => (over.value = 'no'),
      );
    };
    const hover = (event: DragEvent): void => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const refuses = typeof over.value === 'object' && !over.value.allowed;
      event.dataTransfer!.dropEffect = refuses ? 'none' : 'copy';
    };
    const leave = (event: DragEvent): void => {
      if (holdsFiles(event) && --depth <= 0) [depth, over.value] = [0, 'no'];
    };
    const drop = (event: DragEvent): void => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      [depth, over.value] = [0, 'no'];
      void sendFiles(droppedIn(event.dataTransfer!));
    };
    const pairs = [
      ['dragenter', enter],
      ['dragover', hover],
      ['dragleave', leave],
      ['drop', drop],
    ] as const;
    for (const [name, listener] of pairs) addEventListener(name, listener);
    return () => pairs.forEach(([name, listener]) => removeEventListener(name, listener));
  }, []);
  useEffect(() => registerActions({ 'open-file': () => picker.current?.click() }), []);
  const limits = over.value;
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Profile files"
        onChange={(event) => {
          void sendFiles([...(event.currentTarget.files ?? [])].map((file) => ({ file, folder: null, path: '' })));
          event.currentTarget.value = '';
        }}
      />
      {limits !== 'no' && (
        <div class="drop-target" role="status">
          <p>
            {limits === 'asking' || limits.allowed
              ? 'Drop to open. The file or folder goes to this server and is kept there until you delete it.'
              : limits.reason}
            {limits !== 'asking' && limits.allowed && <span class="faint"> Up to {size(limits.file_bytes_max)}.</span>}
          </p>
        </div>
      )}
    </>
  );
}
