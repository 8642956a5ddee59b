/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is being read for the first time: how far it is, and a question that moves it to the
 * head of the queue. */
import { useEffect, useRef } from 'preact/hooks';
import { runEvents } from '../data/events';
import { forgetOne, useJson } from '../data/resource';
import type { RunDetails } from '../data/types';
import { plural, size, time } from '../model/numbers';
import { ProgressBar } from '../ui/states';

/* Picoseconds left, by the pace since it was first seen here; null while that says nothing. */
function useLeft(share: number): number | null {
  const begin = useRef<{ at: number; share: number } | null>(null);
  if (begin.current === null && share > 0) begin.current = { at: performance.now(), share };
  const since = begin.current;
  if (!since || share - since.share < 0.02) return null;
  return ((1 - share) / (share - since.share)) * (performance.now() - since.at) * 1e9;
}

export function Indexing({ run, name }: { run: RunDetails; name: string }) {
  const nudge = useJson<unknown>('api/tracks', { run: run.id }); // costs little, and the timeline asks it next
  useEffect(() => {
    if (nudge.data !== null || nudge.error !== null) forgetOne('api/run', { run: name });
  }, [nudge.data, nudge.error]);
  const told = runEvents.value.get(run.id);
  const share = Math.min(1, Math.max(run.progress ?? 0, told?.state === 'indexing' ? (told.progress ?? 0) : 0));
  const left = useLeft(share);
  const files = `${plural(run.file_count, 'file')}, ${size(run.file_bytes)}`;
  if (run.state === 'writing') return <p class="state waiting">Still being written: {files}.</p>;
  if (run.state === 'queued' && share === 0) return <p class="state waiting">Waiting to be indexed: {files}.</p>;
  return (
    <div class="state waiting">
      Indexing {size(share * run.file_bytes)} of {size(run.file_bytes)}
      {left !== null && `, about ${time(left)} left`}.
      <ProgressBar share={share} />
    </div>
  );
}
