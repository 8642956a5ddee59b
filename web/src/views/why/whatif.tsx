/* SPDX-License-Identifier: Apache-2.0 */
/* What if: a bar for what lies on the path, whose whole is the room; one drags its end, beyond the room too (the
 * number tells), and sees what the step would take. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { askWhatIf, type Changes, type PathRow, type WhatIf } from '../../data/critical';
import { fromAddress, go, query } from '../../data/place';
import type { RunDetails } from '../../data/types';
import { shown } from '../../model/cut';
import { share, time, toNumber } from '../../model/numbers';
import {
  FACTOR_MAX,
  factorWords,
  formatFactors,
  parseFactors,
  scaledBy,
  spelledFactors,
  whatIfSentence,
  withFactor,
  type Factors,
} from '../../model/critical/whatif';
import { Name, SentenceLine } from '../../ui/text';

const BARS_MAX = 14;
const DRAG_PIXELS_MIN = 80; // a short bar is dragged as one of that length
const KEY_STEP = 0.05;

const factors = fromAddress((place) => place.scale, parseFactors);

/* One question at a time; while it is on its way the last that came up waits. */
function useAnswer(run: string, changes: Changes): { answer: WhatIf | null; error: string | null } {
  const [state, setState] = useState<{ answer: WhatIf | null; error: string | null }>({ answer: null, error: null });
  const busy = useRef(false);
  const next = useRef<Changes | null>(null);
  const abort = useRef(new AbortController());
  const ask = async (what: Changes): Promise<void> => {
    busy.current = true;
    try {
      const answer = await askWhatIf(run, what, abort.current.signal);
      setState({ answer, error: null });
    } catch (error) {
      if (!abort.current.signal.aborted) setState((last) => ({ ...last, error: (error as Error).message }));
    }
    busy.current = false;
    const waiting = next.current;
    next.current = null;
    if (waiting && !abort.current.signal.aborted) void ask(waiting);
  };
  const spelled = JSON.stringify(changes);
  useEffect(() => {
    if (busy.current) next.current = changes;
    else void ask(changes);
  }, [run, spelled]);
  useEffect(() => () => abort.current.abort(), [run]);
  return state;
}

function Bar({
  words,
  kind,
  base,
  factor,
  ps,
  onChange,
}: {
  words: string;
  kind: string;
  base: number; // of the path, and of the room
  factor: number;
  ps: number;
  onChange: (factor: number, done: boolean) => void;
}) {
  const room = useRef<HTMLDivElement>(null);
  const from = useRef<{ x: number; factor: number } | null>(null);
  const now = useRef(factor);
  now.current = factor;
  const unit = (): number => Math.max(DRAG_PIXELS_MIN, base * (room.current?.clientWidth ?? 1));
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowRight: KEY_STEP, ArrowUp: KEY_STEP, ArrowLeft: -KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
    const to =
      step !== undefined
        ? factor + step
        : event.key === 'Home'
          ? 0
          : event.key === 'End'
            ? 2
            : event.key === 'Backspace'
              ? 1
              : null;
    if (to === null) return;
    event.preventDefault();
    onChange(to, true);
  };
  return (
    <div
      ref={room}
      class={`whatif-bar kind-${kind}`}
      role="slider"
      tabIndex={0}
      aria-label={`${words}: its time`}
      aria-valuemin={0}
      aria-valuemax={FACTOR_MAX * 100}
      aria-valuenow={Math.round(factor * 100)}
      aria-valuetext={factor === 1 ? 'as it was' : `${Math.round(factor * 100)} percent of its time`}
      data-tip={`${time(Math.round(ps))} on the path as it was; drag it, a double click puts it back`}
      onKeyDown={key}
      onDblClick={() => onChange(1, true)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, factor };
      }}
      onPointerMove={(event) => {
        if (from.current) onChange(from.current.factor + (event.clientX - from.current.x) / unit(), false);
      }}
      onPointerUp={() => {
        if (from.current) onChange(now.current, true);
        from.current = null;
      }}
      onPointerCancel={() => void (from.current = null)}
    >
      <span class="was" style={{ width: `${base * 100}%` }} />
      <span class="is" style={{ width: `${Math.min(1, base * factor) * 100}%` }} />
    </div>
  );
}

const SWITCHES = [
  ['overlap', 'communication', 'Overlap communication', 'Nothing but the end of the step waits for communication'],
  ['overlap', 'copy', 'Overlap copies', 'Nothing but the end of the step waits for copies'],
  ['overlap', 'input', 'Prefetch input', 'Nothing but the end of the step waits for what loads data'],
  ['fuse', 'yes', 'One launch per step', 'Only the first launching call of each step remains'],
  ['even', 'yes', 'Devices even', 'Each device computes for the mean of all devices'],
] as const;

function Switches() {
  return (
    <fieldset class="whatif-switches dots" aria-label="Other changes">
      {SWITCHES.map(([key, value, words, tip]) => {
        const on = (query.value[key] ?? '').split(',').includes(value);
        const others = (query.value[key] ?? '').split(',').filter((one) => one !== '' && one !== value);
        return (
          <label key={words} data-tip={tip}>
            <input
              type="checkbox"
              checked={on}
              onChange={() => go({ [key]: (on ? others : [...others, value]).join() || null }, 'replace')}
            />{' '}
            {words}
          </label>
        );
      })}
    </fieldset>
  );
}

/* As it was and as it would be, one above the other. */
function Both({ answer }: { answer: WhatIf }) {
  const [before, after] = [toNumber(answer.replayed_ps), toNumber(answer.predicted_ps)];
  const most = Math.max(before, after, 1);
  return (
    <dl class="whatif-both">
      {(
        [
          ['as it was', before, 'was'],
          ['then', after, 'then'],
        ] as const
      ).map(([words, ps, look]) => (
        <div key={words}>
          <dt>{words}</dt>
          <dd>
            <span class={`bar ${look}`} style={{ width: `${(100 * ps) / most}%` }} />
            <span class="number">{time(ps)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function WhatIfBox({
  run,
  rows,
  by,
  totalPs,
}: {
  run: RunDetails;
  rows: readonly PathRow[];
  by: string;
  totalPs: number;
}) {
  const [draft, setDraft] = useState<Factors | null>(null);
  const now = draft ?? factors.value;
  const changes: Changes = {
    scale: spelledFactors(now),
    ...(query.value.overlap ? { overlap: query.value.overlap } : {}),
    ...(query.value.fuse ? { fuse_launches: true } : {}),
    ...(query.value.even ? { devices_even: true } : {}),
  };
  const { answer, error } = useAnswer(run.id, changes);
  const bars = rows
    .map((row) => ({ row, what: scaledBy(row, by) }))
    .filter((one): one is { row: PathRow; what: string } => one.what !== null && toNumber(one.row.on_path_ps) > 0)
    .slice(0, BARS_MAX);
  const isChanged = now.size > 0 || ['overlap', 'fuse', 'even'].some((key) => query.value[key] !== undefined);
  const change = (what: string, factor: number, done: boolean): void => {
    const next = withFactor(now, what, factor);
    if (!done) return setDraft(next);
    setDraft(null);
    go({ scale: formatFactors(next) || null }, 'replace');
  };
  return (
    <section class="whatif">
      <h2 class="section">
        What if <span class="quiet section-right">by replay of what waits for what</span>
      </h2>
      {answer && <SentenceLine sentence={whatIfSentence(answer)} />}
      {error !== null && <p class="error">{error}</p>}
      {answer && <Both answer={answer} />}
      <div class="whatif-bars">
        {bars.map(({ row, what }) => {
          const factor = now.get(what) ?? 1;
          return (
            <div key={what} class="whatif-row">
              <span class="cut" data-tip={shown(row.name)}>
                <Name text={row.name} />
              </span>
              <Bar
                words={shown(row.name)}
                kind={row.kind ?? 'other'}
                base={toNumber(row.on_path_ps) / Math.max(1, totalPs)}
                factor={factor}
                ps={toNumber(row.on_path_ps)}
                onChange={(to, done) => change(what, to, done)}
              />
              <span class="number">
                {factor === 1 ? share(toNumber(row.on_path_ps) / Math.max(1, totalPs)) : factorWords(factor)}
              </span>
            </div>
          );
        })}
      </div>
      <Switches />
      {isChanged && (
        <button
          type="button"
          onClick={() => (setDraft(null), go({ scale: null, overlap: null, fuse: null, even: null }, 'replace'))}
        >
          As it was
        </button>
      )}
      {(answer?.notes ?? []).map((note) => (
        <p key={note.kind} class={note.severity === 'warning' ? 'warn' : 'quiet'}>
          {note.message}
        </p>
      ))}
    </section>
  );
}
