/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of programs that run now: whom to ask and for how long, how far each is, what went
 * wrong. The run that comes of it opens as soon as the server finds it, if the dialog still stands. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import {
  beginCapture,
  cancelCapture,
  captured,
  isUnderWay,
  lookAtCapture,
  type Capture,
  type CaptureTarget,
} from '../../data/capture';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunList } from '../../data/types';
import { plural, size } from '../../model/numbers';
import { runChange } from '../../model/address';
import { useDialog } from '../../ui/dialog';
import { registerActions } from '../../ui/keys';
import { ProgressBar } from '../../ui/states';
import { Name } from '../../ui/text';

const open = signal(false);
const watched = signal(false); // the last recording was begun, or seen under way, here
const SECONDS_MAX = 3600;

const targetsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

function targetWords({ state, bytes }: CaptureTarget, capture: Capture): string {
  if (state === 'recording') {
    const asked = capture.ms / 1000;
    return `recording, ${Math.min(capture.seconds, asked).toFixed(1)} of ${asked.toFixed(1)} s`;
  }
  return state === 'receiving' ? `sends its profile, ${size(bytes)} so far` : state === 'done' ? size(bytes) : '';
}

function Targets({ capture }: { capture: Capture }) {
  return (
    <ul class="capture-targets" aria-label="Programs">
      {capture.targets.map((one) => (
        <li key={one.target}>
          <Name text={one.target} />{' '}
          {one.problem === null || one.problem === '' ? (
            <span class="quiet">{targetWords(one, capture)}</span>
          ) : (
            <span class="error">{one.problem}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Progress({ capture, close }: { capture: Capture; close: () => void }) {
  const under = isUnderWay(capture);
  useEffect(() => void (watched.value = true), []);
  const whole = capture.targets.filter((one) => one.state === 'done').length;
  const list = useJson<RunList>(capture.state === 'done' ? 'api/runs' : null, { limit: 2000 });
  const come = list.data?.runs.find(
    (run) =>
      run.dir !== '' && capture.directory.endsWith(`/${run.dir}`) && run.state !== 'writing' && run.state !== 'queued',
  );
  useEffect(() => {
    if (come?.id === undefined) return;
    watched.value = false;
    close();
    go({ ...runChange(come.id), view: null, q: null, sort: null, group: null, columns: null }, 'push');
  }, [come?.id]);
  const programs = plural(capture.targets.length, 'program');
  return (
    <>
      <p role="status">
        {under
          ? `Recording ${programs}.`
          : capture.state === 'failed'
            ? 'No profile came.'
            : `${whole} of ${programs} sent a profile; it opens as soon as it is read.`}
      </p>
      {capture.state === 'recording' && (
        <ProgressBar share={capture.ms === 0 ? 1 : Math.min(1, (capture.seconds * 1000) / capture.ms)} />
      )}
      <Targets capture={capture} />
      <p class="buttons">
        {under ? (
          <button class="framed" onClick={() => void cancelCapture()}>
            Cancel
          </button>
        ) : (
          <button class="framed" onClick={() => (watched.value = false)}>
            Another
          </button>
        )}
        <button onClick={close}>Close</button>
      </p>
    </>
  );
}

function Wish({ close }: { close: () => void }) {
  const [text, setText] = useState('localhost:9999');
  const [seconds, setSeconds] = useState(2);
  const [python, setPython] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const targets = targetsOf(text);
  const begin = (event: Event): void => {
    event.preventDefault();
    setRefusal(null);
    beginCapture(targets, Math.round(seconds * 1000), python ? 1 : 0).then(
      () => (watched.value = true),
      (error: Error) => setRefusal(error.message),
    );
  };
  return (
    <form onSubmit={begin}>
      <p>
        Records programs that called <code class="mono">jax.profiler.start_server(9999)</code>, all at the same time.
      </p>
      <label>
        programs
        <input
          type="text"
          value={text}
          placeholder="host:port, host:port"
          autoFocus
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="capture-options">
        <label>
          for
          <input
            type="number"
            min={0.1}
            max={SECONDS_MAX}
            step="any"
            value={seconds}
            onInput={(event) => setSeconds(Number(event.currentTarget.value))}
          />{' '}
          s
        </label>
        <label>
          <input type="checkbox" checked={python} onChange={(event) => setPython(event.currentTarget.checked)} /> with
          Python's calls, which slows them down
        </label>
      </p>
      {refusal !== null && (
        <p class="error" role="alert">
          {refusal}
        </p>
      )}
      <p class="buttons">
        <button type="submit" class="framed" disabled={targets.length === 0 || !(seconds > 0)}>
          Record
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </form>
  );
}

/* In the list of runs. */
export function CaptureButton() {
  useEffect(() => void lookAtCapture().catch(() => undefined), []);
  const state = captured.value;
  const allowed = state?.allowed === true;
  useEffect(() => (allowed ? registerActions({ capture: () => void (open.value = true) }) : undefined), [allowed]);
  const dialog = useDialog(open.value, () => (open.value = false));
  if (!allowed) return null;
  const close = (): void => void (open.value = false);
  return (
    <>
      <button class="framed" onClick={() => (open.value = true)}>
        {isUnderWay(state.capture) ? 'Recording…' : 'Capture…'}
      </button>
      <dialog {...dialog} class="hand-over capture" aria-labelledby="capture-title">
        {open.value && (
          <>
            <h2 id="capture-title" class="slice-name">
              Capture running programs
            </h2>
            {state.capture && (watched.value || isUnderWay(state.capture)) ? (
              <Progress capture={state.capture} close={close} />
            ) : (
              <Wish close={close} />
            )}
          </>
        )}
      </dialog>
    </>
  );
}

/* Where there are no runs: why none can be captured from here. */
export function CaptureRefusal() {
  const reason = captured.value?.allowed === false ? captured.value.reason : null;
  return reason === null ? null : <>{reason}</>;
}
