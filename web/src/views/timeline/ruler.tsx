/* SPDX-License-Identifier: Apache-2.0 */
/* The ruler: times from the start of the run; the range as a bar; the pointer's time, and how far into its
 * step that is. On a switch the times of day, to match logs. */
import { go, query } from '../../data/place';
import type { StepRow } from '../../data/types';
import { wallDate, wallTime } from '../../model/clock';
import { COLOURING_WORDS, COLOURINGS, colouringOf } from '../../model/colouring';
import { inWindow, ticksIn, type Tick } from '../../model/ticks';
import { time, toBig } from '../../model/numbers';
import { positionOf, startOf, timeAt } from '../../model/viewport';
import { openMenu } from '../../ui/context_menu';
import { act } from '../../ui/keys';
import { Icon } from '../../ui/icons';
import { dragRuler, wheel } from './gestures';
import { MarkFlags } from './mark_flags';
import { NoteFlags } from './note_flags';
import { isPathShown } from './path_row';
import type { TimelineState } from './state';
import { rowsOfSteps, stepAround } from './steps_row';

const TICK_MARGIN = 5;
const CURSOR_PIXELS = 200; // of its words, at most
const LETTER = 6.6; // pixels, of 11 px

/* Picoseconds since 1970 at the run's time zero, when the ruler shows the time of day. */
function wallZero(state: TimelineState): bigint | null {
  return query.value.clock === 'wall' && !state.axis && state.run.epoch_ns !== null
    ? toBig(BigInt(state.run.epoch_ns)) * 1000n
    : null;
}

export function ticksOf(state: TimelineState): Tick[] {
  const zero = wallZero(state);
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  if (zero === null) return ticksIn(viewport, width);
  const byDay = (_most: bigint, step: number) => (at: bigint) => wallTime(at, step);
  return ticksIn({ ...viewport, base: viewport.base + zero }, width, byDay);
}

/* The step that a moment lies in, and how far. */
export function inStepWords(state: TimelineState, at: bigint): string | null {
  const row = stepAround(rowsOfSteps(state), at);
  return row && `step ${row.step} + ${time(at - row.start)}`;
}

function CursorWords({ state, x }: { state: TimelineState; x: number }) {
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  const zero = wallZero(state);
  const at = timeAt(viewport, x / Math.max(1, width));
  const step = state.axis ? null : inStepWords(state, at);
  return (
    <>
      {zero === null ? inWindow(viewport, width, 50)(at) : wallTime(at + zero, viewport.span / width)}
      {step && ` · ${step}`}
    </>
  );
}

/* The step nearest the middle of the window. */
function stepInSight(state: TimelineState): number | string | null {
  const middle = timeAt(state.viewport.value, 0.5);
  const distance = (step: StepRow): number => Math.abs(Number(toBig(step.start_ps) + toBig(step.dur_ps) / 2n - middle));
  return [...state.steps.value].sort((a, b) => distance(a) - distance(b))[0]?.step ?? null;
}

function viewMenu(state: TimelineState, button: HTMLElement): void {
  const box = button.getBoundingClientRect();
  const now = colouringOf(query.value.colour);
  const wall = query.value.clock === 'wall';
  const step = state.run.hosts.length > 1 ? stepInSight(state) : null;
  openMenu('Colours and times', box.left, box.bottom + 4, [
    ...COLOURINGS.map((one) => ({
      words: `Colour tells the ${COLOURING_WORDS[one]}`,
      checked: one === now,
      run: () => go({ colour: one === 'kind' ? null : one }, 'replace'),
    })),
    { words: 'Critical path of the step', checked: isPathShown(state), run: () => void act('path') },
    { words: 'Legend of the colours', checked: query.value.legend !== 'off', run: () => void act('legend') },
    ...(['png', 'svg'] as const).map((as) => ({
      words: `Save what is seen as ${as.toUpperCase()}`,
      run: () => void act(`save-${as}`),
    })),
    ...(state.run.epoch_ns === null
      ? []
      : [false, true].map((on) => ({
          words: on ? 'Times of day' : 'Times from the start of the run',
          checked: on === wall,
          run: () => go({ clock: on ? 'wall' : null }, 'replace'),
        }))),
    ...(step === null && query.value.stack === undefined
      ? []
      : [
          {
            words: 'Hosts by their clocks',
            checked: query.value.stack === undefined,
            run: () => go({ stack: null }, 'replace'),
          },
          ...(step === null
            ? []
            : [
                {
                  words: `Hosts side by side from the start of step ${step}`,
                  checked: query.value.stack === String(step),
                  run: () => go({ stack: String(step) }, 'replace'),
                },
              ]),
        ]),
  ]);
}

export function RulerBase({ state }: { state: TimelineState }) {
  const zero = wallZero(state);
  return (
    <span class="ruler-left">
      <button
        class="bare"
        aria-haspopup="menu"
        data-tip="What colours tell; times of day"
        onClick={(event) => viewMenu(state, event.currentTarget)}
      >
        {colouringOf(query.value.colour)} <Icon name="down" />
      </button>
      <input
        type="search"
        class="lane-filter"
        aria-label="Filter tracks by name"
        placeholder="tracks"
        value={query.value.lanes ?? ''}
        onInput={(event) => go({ lanes: event.currentTarget.value || null }, 'replace')}
      />
      {zero !== null && <span class="ruler-base">{wallDate(startOf(state.viewport.value) + zero).split(' ')[0]}</span>}
    </span>
  );
}

export function Ruler({ state }: { state: TimelineState }) {
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  const range = state.range.value;
  const hover = state.hover.value;
  const from = range ? positionOf(viewport, range.start) * width : 0;
  const to = range ? positionOf(viewport, range.end) * width : 0;
  return (
    <div
      class="ruler"
      onPointerDown={(event) => dragRuler(state, event)}
      onWheel={(event) => wheel(state, event, event.currentTarget.getBoundingClientRect(), true)}
      data-tip={state.axis ? undefined : 'Drag: range; with shift it snaps to slices'}
    >
      {ticksOf(state).map((tick) => (
        <span key={tick.text} class="tick" style={{ left: `${Math.round(tick.position * width)}px` }}>
          {tick.position * width + TICK_MARGIN + tick.text.length * LETTER < width && tick.text}
        </span>
      ))}
      {range && to > 0 && from < width && (
        <span
          class="ruler-range"
          style={{ left: `${Math.max(0, from)}px`, width: `${Math.max(1, Math.min(width, to) - Math.max(0, from))}px` }}
        >
          {to - from > 64 ? time(range.end - range.start) : ''}
        </span>
      )}
      {!state.axis && <MarkFlags state={state} />}
      {!state.axis && <NoteFlags state={state} />}
      {hover && (
        <span
          class={`ruler-cursor${hover.x > width - CURSOR_PIXELS ? ' left' : ''}`}
          style={{ left: `${Math.round(hover.x)}px` }}
        >
          <CursorWords state={state} x={hover.x} />
        </span>
      )}
    </div>
  );
}
