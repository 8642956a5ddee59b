/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as bars, stacked by kind.
 *
 *   ▔▔ torn: taller than 1.2 × p95 of the usual steps, wears its number
 *   ▒  hollow: a warm-up, left out of the figures
 */
import { KINDS, type StepRow } from '../data/types';
import { cutMiddle } from '../model/cut';
import { time, toNumber } from '../model/numbers';
import { stepFor } from '../model/ticks';
import type { Tokens } from './tokens';

export interface BarsLayout {
  left: number; // of the first bar
  pitch: number; // CSS pixels from bar to bar
  bar: number;
  top: number;
  bottom: number;
  scalePs: number; // at the top
}

const AXIS = 64;
const LABELS = 16;
const HEADROOM = 16;
const BAR_MAX = 64;
const WORD_PIXELS_MIN = 48;
const TEAR = 16; // pixels below the top: no place for words

export function barsLayout(steps: readonly StepRow[], width: number, height: number): BarsLayout {
  const usual = steps.filter((step) => !step.warmup && !step.outlier);
  const sorted = (usual.length > 0 ? usual : steps).map((step) => toNumber(step.dur_ps)).sort((a, b) => a - b);
  const p95 = sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? 1;
  const longest = steps.reduce((most, step) => Math.max(most, toNumber(step.dur_ps)), 1);
  const scalePs = Math.max(1, longest > 1.2 * p95 ? 1.2 * p95 : longest);
  const pitch = Math.min(widest(width), (width - AXIS) / Math.max(1, steps.length));
  const gap = pitch >= 6 ? Math.min(8, Math.max(1, pitch * 0.15)) : 0;
  return { left: AXIS, pitch, bar: Math.max(0.5, pitch - gap), top: HEADROOM, bottom: height - LABELS, scalePs };
}

/* A wide page has wide bars: so many fill it. */
const FILLING = 16;
const widest = (width: number): number => Math.max(BAR_MAX + 8, Math.min(160, (width - AXIS) / FILLING));

/* As wide as so many bars want to be. */
export function barsWidth(count: number): number {
  return AXIS + count * (BAR_MAX + 8);
}

export function barAt(layout: BarsLayout, count: number, x: number): number | null {
  const index = Math.floor((x - layout.left) / layout.pitch);
  return index >= 0 && index < count ? index : null;
}

export interface BarsScene {
  steps: readonly StepRow[];
  medianPs: number | null;
  layout: BarsLayout;
  width: number;
  height: number;
  ratio: number;
  hover: number | null;
  focus: number | null;
  tokens: Tokens;
}

export function paintBars(canvas: HTMLCanvasElement, scene: BarsScene): void {
  const { width, height, ratio, tokens, layout } = scene;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${tokens.font}`;
  paintAxis(context, scene);
  const numbers = wordsAt(context, height - 4, tokens.ink2);
  const torn: { words: string; middle: number; ps: number }[] = [];
  const widthOf = (words: string): number => context.measureText(words).width;
  const endings = hostEndings(scene.steps);
  const named = scene.steps.map(({ step, host }) => {
    const number =
      String(step).length < 8 || widthOf(String(step)) <= layout.bar ? String(step) : cutMiddle(String(step), 7);
    const ofHost = `${number} ${endings.get(host ?? '') ?? ''}`.trim();
    return widthOf(ofHost) <= layout.pitch ? ofHost : number;
  });
  const apart = stepFor((named.reduce((most, number) => Math.max(most, widthOf(number)), 0) + 8) / layout.pitch, 1);
  scene.steps.forEach((step, index) => {
    const x = layout.left + index * layout.pitch;
    paintBar(context, scene, step, x, index);
    if (index % apart === 0) numbers(named[index]!, x + layout.bar / 2);
    if (toNumber(step.dur_ps) > layout.scalePs * 1.001)
      torn.push({ words: time(step.dur_ps), middle: x + layout.bar / 2, ps: toNumber(step.dur_ps) });
  });
  wordsOfTallest(context, layout.top - 4, width, tokens.ink, torn);
}

/* What tells hosts apart: "hostA" and "hostB" end in A and B. Of one host nothing. */
export function hostEndings(steps: readonly StepRow[]): Map<string, string> {
  const hosts = [...new Set(steps.map(({ host }) => host ?? ''))];
  if (hosts.length < 2) return new Map();
  const [first] = hosts as [string];
  let same = 0;
  while (same < first.length && hosts.every((host) => host.length > same + 1 && host[same] === first[same])) same++;
  return new Map(hosts.map((host) => [host, host.slice(same)]));
}

/* Of torn bars that stand too near each other the tallest has its number. */
function wordsOfTallest(
  context: CanvasRenderingContext2D,
  y: number,
  width: number,
  colour: string,
  torn: { words: string; middle: number; ps: number }[],
): void {
  const taken: [number, number][] = [];
  context.fillStyle = colour;
  context.textAlign = 'center';
  for (const { words, middle: over } of torn.sort((a, b) => b.ps - a.ps)) {
    const half = context.measureText(words).width / 2 + 4;
    const middle = Math.min(over, width - half); // whole, over the last bar too
    if (taken.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    taken.push([middle - half, middle + half]);
    context.fillText(words, middle, y);
  }
}

/* Words in a line, each where it should be, those left out that would touch the one before. */
function wordsAt(
  context: CanvasRenderingContext2D,
  y: number,
  colour: string,
): (words: string, middle: number) => void {
  let end = -Infinity;
  return (words, middle) => {
    const size = context.measureText(words).width;
    if (middle - size / 2 < end + 8) return;
    end = middle + size / 2;
    context.fillStyle = colour;
    context.textAlign = 'center';
    context.fillText(words, middle, y);
  };
}

function paintAxis(context: CanvasRenderingContext2D, { layout, tokens, steps, medianPs }: BarsScene): void {
  const end = layout.left + steps.length * layout.pitch;
  const line = (ps: number, words: string): void => {
    const y = Math.round(layout.bottom - (ps / layout.scalePs) * (layout.bottom - layout.top)) + 0.5;
    context.strokeStyle = tokens.line;
    context.beginPath();
    context.moveTo(layout.left - 4, y);
    context.lineTo(end, y);
    context.stroke();
    context.fillStyle = tokens.ink2;
    context.textAlign = 'right';
    context.fillText(words, layout.left - 8, y + 4);
  };
  line(0, '0');
  if (medianPs !== null && medianPs > 0) line(medianPs, time(medianPs));
}

function paintBar(context: CanvasRenderingContext2D, scene: BarsScene, step: StepRow, x: number, index: number): void {
  const { layout, tokens } = scene;
  const room = layout.bottom - layout.top;
  const total = toNumber(step.dur_ps);
  /* A torn bar has no scale: its kinds share its height. */
  const perPs = Math.min(room / layout.scalePs, room / Math.max(1, total));
  const left = Math.round(x);
  const size = Math.max(1, Math.round(x + layout.bar) - left);
  const top = layout.bottom - Math.min(room, total * perPs);
  if (step.warmup) {
    context.strokeStyle = tokens.edge;
    context.setLineDash([3, 2]);
    context.strokeRect(left + 0.5, Math.round(top) + 0.5, Math.max(0, size - 1), layout.bottom - Math.round(top) - 1);
    context.setLineDash([]);
  } else {
    let foot = layout.bottom;
    for (const kind of KINDS) {
      const part = toNumber(step.breakdown.find((one) => one.kind === kind)?.self_ps ?? 0) * perPs;
      if (part <= 0) continue;
      const from = Math.max(top, foot - part);
      const colours = tokens.kinds[KINDS.indexOf(kind)]!;
      context.fillStyle = colours.css[1];
      context.fillRect(left, Math.round(from), size, Math.max(0, Math.round(foot) - Math.round(from)));
      const torn = total > layout.scalePs * 1.001 && from < layout.top + TEAR;
      if (size >= WORD_PIXELS_MIN && foot - from >= 14 && !torn) {
        context.fillStyle = colours.label;
        context.textAlign = 'center';
        const word = context.measureText(kind).width <= size - 6 ? kind : '';
        context.fillText(word, left + size / 2, (foot + from) / 2 + 4);
      }
      if (size >= 6) {
        context.strokeStyle = colours.strokeCss;
        context.strokeRect(
          left + 0.5,
          Math.round(from) + 0.5,
          size - 1,
          Math.max(0, Math.round(foot) - Math.round(from) - 1),
        );
      }
      foot = from;
      if (from <= top) break;
    }
  }
  if (total > layout.scalePs * 1.001) tear(context, scene, left, size, step.warmup);
  if (index === scene.hover || index === scene.focus) {
    context.strokeStyle = tokens.ink;
    context.lineWidth = index === scene.focus ? 2 : 1;
    context.strokeRect(left - 1, Math.round(top) - 1, size + 2, layout.bottom - Math.round(top) + 2);
    context.lineWidth = 1;
  }
}

/* A gap in zigzag, edged where the bar is hollow and has no fill to break. */
function tear(
  context: CanvasRenderingContext2D,
  { layout, tokens }: BarsScene,
  left: number,
  size: number,
  hollow: boolean,
): void {
  const teeth = Math.max(1, Math.round(size / 8));
  const pitch = size / teeth / 2;
  const zigzag = (y: number, direction: 1 | -1): void => {
    for (let index = 0; index <= 2 * teeth; index++) {
      const at = direction > 0 ? index : 2 * teeth - index;
      context.lineTo(left + at * pitch, y + (at % 2 === 0 ? 4 : 0));
    }
  };
  context.beginPath();
  context.moveTo(left - 1, layout.top + 8);
  zigzag(layout.top + 4, 1);
  context.lineTo(left + size + 1, layout.top + 8);
  context.lineTo(left + size + 1, layout.top + 12);
  zigzag(layout.top + 8, -1);
  context.lineTo(left - 1, layout.top + 12);
  context.fillStyle = tokens.bg;
  context.fill();
  if (!hollow) return;
  context.strokeStyle = tokens.edge;
  for (const y of [layout.top + 4, layout.top + 8]) {
    context.beginPath();
    zigzag(y, 1);
    context.stroke();
  }
}
