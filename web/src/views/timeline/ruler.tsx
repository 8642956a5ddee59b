/* SPDX-License-Identifier: Apache-2.0 */
/* The ruler: a base once at the left, then differences; the range as a bar; the pointer's time. On a
 * switch the times of day, to match logs. */
import { go, query } from '../../data/place';
import type { StepRow } from '../../data/types';
import { wallDate, wallTime } from '../../model/clock';
import { COLOURING_WORDS, COLOURINGS, colouringOf } from '../../model/colouring';
import { rulerOf, stepFor, type Ruler as Ticks } from '../../model/ticks';
import { time, timeExact, toBig } from '../../model/numbers';
import { positionOf, timeAt } from '../../model/viewport';
import { openMenu } from '../../ui/context_menu';
import { act } from '../../ui/keys';
import { Icon } from '../../ui/icons';
import { dragRuler, wheel } from './gestures';
import { MarkFlags } from './mark_flags';
import { NoteFlags } from './note_flags';
import { isPathShown } from './path_row';
import type { TimelineState } from './state';

const TICK_PIXELS = 110;
const TICK_MARGIN = 5;
const LETTER = 6.6; // pixels, of 11 px

/* Picoseconds since 1970 at the run's time zero, when the ruler shows the time of day. */
function wallZero(state: TimelineState): bigint | null {
  return query.value.clock === 'wall' && !state.axis && state.run.epoch_ns !== null
    ? toBig(BigInt(state.run.epoch_ns)) * 1000n
    : null;
}

export function ticksOf(state: TimelineState): Ticks {
  const zero = wallZero(state);
  const { viewport, size } = state;
  const count = size.value.width / TICK_PIXELS;
  if (zero === null) return rulerOf(viewport.value, count);
  const ticks = rulerOf({ ...viewport.value, base: viewport.value.base + zero }, count);
  return { ...ticks, baseText: `${wallTime(ticks.base, stepFor(viewport.value.span, count) * 10)} +` };
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
          words: on ? 'Times of day' : 'Times from the begin of the run',
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
                  words: `Hosts side by side from the begin of step ${step}`,
                  checked: query.value.stack === String(step),
                  run: () => go({ stack: String(step) }, 'replace'),
                },
              ]),
        ]),
  ]);
}

export function RulerBase({ state }: { state: TimelineState }) {
  const ruler = ticksOf(state);
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
      <span class="ruler-base" data-tip={wallZero(state) === null ? timeExact(ruler.base) : wallDate(ruler.base)}>
        {ruler.baseText}
      </span>
    </span>
  );
}

export function Ruler({ state }: { state: TimelineState }) {
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  const ruler = ticksOf(state);
  const zero = wallZero(state);
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
      {ruler.ticks.map((tick) => (
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
        <span class={`ruler-cursor${hover.x > width - 90 ? ' left' : ''}`} style={{ left: `${Math.round(hover.x)}px` }}>
          {zero === null
            ? `${ruler.base === 0n ? '' : '+'}${time(hover.time - ruler.base)}`
            : wallTime(hover.time + zero, viewport.span / width)}
        </span>
      )}
    </div>
  );
}
