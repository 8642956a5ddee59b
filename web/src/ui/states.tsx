/* SPDX-License-Identifier: Apache-2.0 */
/* Empty, loading, failed: what is so, why, what to do; nothing else. */
import type { ComponentChildren } from 'preact';
import { Problem } from '../data/api';
import { forget, type Resource } from '../data/resource';
import { restriction } from '../data/restriction';
import { runChange } from '../model/address';
import { size, THIN } from '../model/numbers';
import { sentenceCase } from '../model/sentence';
import { Link } from './link';
import { Code, copyText } from './text';

interface Told {
  done?: number;
  total?: number;
  done_bytes?: number;
  total_bytes?: number;
}

/* A share, or bytes of how many; the reply says either. */
export function progressOf(progress: unknown): { share: number; words: string } | null {
  if (typeof progress === 'number') return { share: progress, words: `${Math.floor(progress * 100)}${THIN}%` };
  if (typeof progress !== 'object' || progress === null) return null;
  const told = progress as Told;
  const done = told.done_bytes ?? told.done;
  const total = told.total_bytes ?? told.total;
  if (done === undefined || total === undefined || total === 0) return null;
  return { share: done / total, words: `${size(done)} of ${size(total)}` };
}

export function ProgressBar({ share }: { share: number }) {
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label="progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
    >
      <div style={{ width: `${Math.min(1, share) * 100}%` }} />
    </div>
  );
}

export function Waiting({ what, progress }: { what: string; progress: unknown }) {
  const told = progressOf(progress);
  return (
    <div class="state waiting quiet">
      {told ? `Indexing ${told.words}.` : what}
      {told && <ProgressBar share={told.share} />}
    </div>
  );
}

function Nearest({ error }: { error: Problem }) {
  const names = error.candidates.length > 0 ? error.candidates : error.nearest.map((name) => ({ id: name, name }));
  if (names.length === 0) return null;
  return (
    <span>
      {error.candidates.length > 0 ? ' It means one of ' : ' Nearest: '}
      {names.map((one, index) => (
        <>
          {index > 0 && ', '}
          <Link to={runChange(one.id)}>{one.name}</Link>
        </>
      ))}
    </span>
  );
}

/* fetch says "Failed to fetch" by a TypeError; another one is a fault of this page. */
function sayError(error: Error): string {
  /* The names that are nearest follow as links. */
  if (error instanceof Problem)
    return sentenceCase(error.nearest.length > 0 ? error.message.replace(/; the nearest .*$/s, '') : error.message);
  return error instanceof TypeError && /fetch|network/i.test(error.message)
    ? 'The server did not answer.'
    : `This view failed: ${error.message}. This is a fault of the page, not of the profile.`;
}

/* What someone who mends it wants to know. */
function reportOf(error: Error): string {
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const problem =
    error instanceof Problem
      ? [`${error.status} ${JSON.stringify(error.body, plain)}`]
      : [String(error.stack ?? error.message)];
  return [`jviewd: ${error.message}`, location.href, new Date().toISOString(), ...problem, navigator.userAgent].join(
    '\n',
  );
}

export function Failed({ error, onRetry = forget }: { error: Error; onRetry?: () => void }) {
  const hopeless = error instanceof Problem && (error.status === 404 || error.status === 409);
  return (
    <div class="state" role="alert">
      <span class="error">{sayError(error)}</span> {error instanceof Problem && <Nearest error={error} />}
      {!hopeless && (
        <>
          <button class="framed" onClick={onRetry}>
            Try again
          </button>{' '}
          <button class="framed" onClick={() => void copyText(reportOf(error))}>
            Copy report
          </button>
        </>
      )}
    </div>
  );
}

export function Empty({ children, copy }: { children: ComponentChildren; copy?: string }) {
  return (
    <div class="state">
      {children}
      {copy !== undefined && (
        <>
          {' '}
          <Code text={copy} />
          <button class="framed" onClick={() => void copyText(copy)}>
            Copy
          </button>
        </>
      )}
    </div>
  );
}

/* Where there is no run at all, or no timeline in it. */
export function HowToRecord({ children = 'To record one, in the program:' }: { children?: ComponentChildren }) {
  return <Empty copy={'jax.profiler.trace("runs/profiles/step_1000")'}>{children}</Empty>;
}

/* Where a run has no steps. */
export function HowToMarkSteps({ framework, children }: { framework: string | null; children: ComponentChildren }) {
  return (
    <Empty
      copy={framework === 'pytorch' ? 'prof.step()' : 'with jax.profiler.StepTraceAnnotation("train", step_num=step):'}
    >
      {children}
    </Empty>
  );
}

/* Where devices left nothing: what still ran when the recording stopped is not told. */
export function HowToRecordDevices({ framework, children }: { framework: string | null; children: ComponentChildren }) {
  return (
    <Empty copy={framework === 'pytorch' ? 'torch.cuda.synchronize()' : 'jax.block_until_ready(result)'}>
      {children} Devices tell only what has ended before the recording stops; to wait for it there:
    </Empty>
  );
}

export const isWhole = (): boolean => Object.keys(restriction.value).length === 0;

/* A view without rows: that may be what it is narrowed to, or the run. */
export function NothingHere({ did }: { did: string }) {
  const where = isWhole() ? 'this run, as far as it was recorded' : 'the selection of this page';
  return <p class="state">{`${did} in ${where}.`}</p>;
}

/* Data if there is any; else why not. */
export function Loaded<T>({
  of,
  what,
  children,
}: {
  of: Resource<T>;
  what: string;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data !== null) return <>{children(of.data)}</>;
  if (of.error !== null) return <Failed error={of.error} />;
  if (of.waiting) return <Waiting what={what} progress={of.progress} />;
  return null;
}
