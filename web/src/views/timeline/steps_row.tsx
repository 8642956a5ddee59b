/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the run as a row of numbered boxes below the ruler: it measures in steps as that does in time.
 * A click makes a step the range, exactly; with shift the range grows to it; a double click shows it. */
import { go } from '../../data/place';
import type { StepRow } from '../../data/types';
import { readTokens } from '../../draw/tokens';
import { shown } from '../../model/cut';
import { time, toBig } from '../../model/numbers';
import { positionOf, timeAt } from '../../model/viewport';
import { Canvas } from '../../ui/canvas';
import { hideTip, showTip } from '../../ui/tooltip';
import type { TimelineState } from './state';

export interface StepBox {
  step: string;
  start: bigint;
  end: bigint;
  warmup: boolean;
  left: number; // ps from the first one's begin, as small numbers: they are painted sixty times a second
  size: number;
}

const HEIGHT = 20;
const NUMBER_PIXELS = 4; // around a number
const known = new WeakMap<readonly StepRow[], { host: string | null; boxes: StepBox[] }>();

/* Of several hosts the first that has steps: each has clocks and steps of its own. */
function ownSteps(rows: readonly StepRow[]): { host: string | null; boxes: StepBox[] } {
  let own = known.get(rows);
  if (own === undefined) {
    const host = rows[0]?.host ?? null;
    const boxes = rows
      .filter((row) => row.host === host)
      .map((row) => {
        const start = toBig(row.start_ps);
        const end = start + toBig(row.dur_ps);
        return { step: String(row.step), start, end, warmup: row.warmup, left: 0, size: Number(end - start) };
      })
      .sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
    for (const box of boxes) box.left = Number(box.start - boxes[0]!.start);
    own = { host, boxes };
    known.set(rows, own);
  }
  return own;
}

/* As they are drawn: of a host that is drawn shifted, shifted. */
export function rowsOfSteps(state: TimelineState): readonly StepBox[] {
  const { host, boxes } = ownSteps(state.steps.value);
  const shift = state.shiftOf(host ?? '');
  return shift === 0n ? boxes : boxes.map((box) => ({ ...box, start: box.start - shift, end: box.end - shift }));
}

/* The last that begins by then, if it lasts until then. */
export function stepAround(boxes: readonly StepBox[], at: bigint): StepBox | null {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle]!.start <= at) low = middle + 1;
    else high = middle;
  }
  const box = boxes[low - 1];
  return box && at < box.end ? box : null;
}

const widths = new Map<string, number>(); // of words, in the one font there is

function widthOf(context: CanvasRenderingContext2D, words: string): number {
  let width = widths.get(words);
  if (width === undefined) widths.set(words, (width = context.measureText(words).width));
  return width;
}

function paintSteps(context: CanvasRenderingContext2D, state: TimelineState, width: number): void {
  const tokens = readTokens();
  const viewport = state.viewport.value;
  const range = state.range.value;
  context.font = `11px ${tokens.font}`;
  context.textBaseline = 'middle';
  context.lineWidth = 1;
  let covered = -1; // what ends within a pixel that is painted already is not seen
  const boxes = rowsOfSteps(state);
  const zero = positionOf(viewport, boxes[0]!.start) * width;
  const scale = width / viewport.span;
  for (const box of boxes) {
    const left = zero + box.left * scale;
    const right = left + box.size * scale;
    if (right < 0 || right < covered) continue;
    if (left > width) break;
    const from = Math.round(Math.max(-1, left));
    const size = Math.max(1, Math.round(Math.min(width + 1, right)) - from);
    const isIn = range !== null && box.start >= range.start && box.end <= range.end;
    context.fillStyle = isIn ? tokens.select : box.warmup ? tokens.bg : tokens.bg3;
    context.fillRect(from, 1, size, HEIGHT - 2);
    if (size >= 3) {
      context.strokeStyle = isIn ? tokens.accent : tokens.edge;
      context.strokeRect(from + 0.5, 1.5, size - 1, HEIGHT - 3);
    }
    const visible = Math.min(width, right) - Math.max(0, left);
    covered = Math.floor(from + size);
    if (visible < NUMBER_PIXELS * 2) continue;
    const words = [`step ${box.step}${box.warmup ? ', warm-up' : ''}`, `step ${box.step}`, box.step].find(
      (text) => widthOf(context, text) + 2 * NUMBER_PIXELS <= visible,
    );
    if (words) {
      context.fillStyle = tokens.ink;
      context.fillText(words, Math.max(0, left) + NUMBER_PIXELS, HEIGHT / 2 + 0.5);
    }
  }
}

/* The step as the range; with shift, of all that lies between it and the range so far. */
function choose(state: TimelineState, box: StepBox, grow: boolean): void {
  const before = grow ? state.range.value : null;
  const start = before && before.start < box.start ? before.start : box.start;
  const end = before && before.end > box.end ? before.end : box.end;
  go({ start_ps: String(start), end_ps: String(end) });
}

export function StepsRow({ state }: { state: TimelineState }) {
  const { host, boxes } = ownSteps(state.steps.value);
  if (boxes.length === 0) return null;
  const { width } = state.size.value;
  const viewport = state.viewport.value;
  const under = (x: number): StepBox | null =>
    width === 0 ? null : stepAround(rowsOfSteps(state), timeAt(viewport, x / width));
  const paint = (canvas: HTMLCanvasElement, wide: number, high: number): void => {
    canvas.width = Math.round(wide * devicePixelRatio);
    canvas.height = Math.round(high * devicePixelRatio);
    const context = canvas.getContext('2d')!;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    paintSteps(context, state, wide);
  };
  const isOneOfMany = state.run.hosts.length > 1 && host !== null;
  return (
    <div class="timeline-steps" data-steps={boxes.length}>
      <span class="path-name cut" data-tip="A click makes a step the range; with shift the range grows; J and K go on">
        {isOneOfMany ? `Steps of ${shown(host)}` : 'Steps'}
      </span>
      <Canvas
        height={HEIGHT}
        label={`${boxes.length} steps, ${boxes[0]!.step} to ${boxes.at(-1)!.step}`}
        paint={paint}
        onMove={(x, _y, event) => {
          const box = under(x);
          if (!box) return hideTip();
          showTip(
            <>
              <strong>{`step ${box.step}: ${time(box.end - box.start)}`}</strong>
              {box.warmup && ', warm-up, left out of the counted steps'}
              <br />
              <span class="faint">click: the range; double click: the window</span>
            </>,
            event.clientX,
            event.clientY,
          );
        }}
        onLeave={hideTip}
        onClick={(x, _y, event) => {
          const box = under(x);
          if (!box) return;
          hideTip();
          if (event.detail === 2) state.showSpan(`step ${box.step}`, box, 0.05);
          else choose(state, box, event.shiftKey);
        }}
      />
    </div>
  );
}
