/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts or devices against steps: how late each ended, in greys.
 *
 *            step 0  1  2  3
 *   hostA    ░░░ ░░░ ░░░ ░░░
 *   hostB    ▓▓▓ ███ ▒▒▒ ▓▓▓    the later, the darker; who was last wears a dot
 *
 * Many are as high together as sixteen, so that their table is on the same screen.
 */
import type { HostStep, HostTable } from '../data/types';
import { stepFor } from '../model/ticks';
import type { Tokens } from './tokens';

const ROW = 20;
const HEIGHT_MAX = 16 * ROW;
const LABEL_HEIGHT = 14;
const LABELS = 18;
const NAMES = 160;
const CELL_MAX = 40;
const LIGHTEST = 0.06;
const DARKEST = 0.8;

export interface GridLayout {
  left: number;
  pitch: number; // a step
  row: number; // a lane
  height: number;
}

export interface GridScene {
  lanes: readonly string[];
  steps: readonly number[];
  cells: ReadonlyMap<string, HostStep>; // "lane step" by index
  late: (cell: HostStep) => number; // ps
  latest: number;
  chosen: { lane: number; step: number } | null; // by keys
  width: number;
  ratio: number;
  tokens: Tokens;
}

/* Of more cells than an answer has, whole steps. */
export function wholeSteps({
  rows,
  row_count: all,
}: Pick<HostTable<HostStep>, 'rows' | 'row_count'>): readonly HostStep[] {
  return rows.length < all ? rows.filter((row) => row.step !== rows.at(-1)!.step) : rows;
}

export function gridLayout(lanes: number, steps: number, width: number): GridLayout {
  const row = Math.max(1, Math.min(ROW, Math.floor(HEIGHT_MAX / Math.max(1, lanes))));
  return {
    left: NAMES,
    pitch: Math.min(CELL_MAX, Math.max(1, (width - NAMES) / Math.max(1, steps))),
    row,
    height: LABELS + lanes * row,
  };
}

export function gridAt(
  layout: GridLayout,
  lanes: number,
  steps: number,
  x: number,
  y: number,
): { lane: number; step: number } | null {
  const step = Math.floor((x - layout.left) / layout.pitch);
  const lane = Math.floor((y - LABELS) / layout.row);
  return step >= 0 && step < steps && lane >= 0 && lane < lanes ? { lane, step } : null;
}

/* Where the words of a cell stand: its middle, beneath it. */
export function gridPlace(layout: GridLayout, lane: number, step: number): { x: number; y: number } {
  return { x: layout.left + (step + 0.5) * layout.pitch, y: LABELS + (lane + 1) * layout.row };
}

function fit(context: CanvasRenderingContext2D, words: string, room: number): string {
  let text = words;
  while (text.length > 1 && context.measureText(text).width > room) text = `${text.slice(0, -2)}…`;
  return text;
}

export function paintGrid(canvas: HTMLCanvasElement, scene: GridScene): void {
  const { lanes, steps, width, ratio, tokens } = scene;
  const layout = gridLayout(lanes.length, steps.length, width);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(layout.height * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, layout.height);
  context.font = `11px ${tokens.font}`;
  context.fillStyle = tokens.ink2;
  context.textAlign = 'center';
  const widest = steps.reduce((most, step) => Math.max(most, context.measureText(String(step)).width), 0);
  const every = stepFor((widest + 8) / layout.pitch, 1);
  steps.forEach((step, index) => {
    const middle = layout.left + (index + 0.5) * layout.pitch;
    if (index % every === 0 && middle + widest / 2 < width) context.fillText(String(step), middle, 12);
  });
  const apart = stepFor(LABEL_HEIGHT / layout.row, 1);
  lanes.forEach((lane, row) => {
    const top = LABELS + row * layout.row;
    context.textAlign = 'left';
    context.fillStyle = tokens.ink;
    if (row % apart === 0) context.fillText(fit(context, lane, NAMES - 12), 0, top + layout.row / 2 + 4);
    steps.forEach((_step, column) => paintCell(context, scene, layout, row, column, top));
  });
  if (scene.chosen === null) return;
  context.strokeStyle = tokens.accent;
  context.lineWidth = 2;
  const left = layout.left + scene.chosen.step * layout.pitch;
  context.strokeRect(left, LABELS + scene.chosen.lane * layout.row, Math.max(3, layout.pitch - 1), layout.row);
}

function paintCell(
  context: CanvasRenderingContext2D,
  scene: GridScene,
  layout: GridLayout,
  row: number,
  column: number,
  top: number,
): void {
  const cell = scene.cells.get(`${row} ${column}`);
  const left = Math.round(layout.left + column * layout.pitch);
  const gap = layout.pitch >= 6 ? 1 : 0;
  const size = Math.max(1, Math.round(layout.left + (column + 1) * layout.pitch) - left - gap);
  if (!cell) return;
  const share = scene.latest > 0 ? scene.late(cell) / scene.latest : 0;
  context.globalAlpha = LIGHTEST + (DARKEST - LIGHTEST) * share;
  context.fillStyle = scene.tokens.ink;
  const edge = layout.row >= 6 ? 1 : 0;
  context.fillRect(left, top + edge, size, layout.row - 2 * edge);
  context.globalAlpha = 1;
  if (!cell.last || Math.min(size, layout.row) < 8) return;
  context.fillStyle = share > 0.45 ? scene.tokens.bg : scene.tokens.ink;
  context.beginPath();
  context.arc(left + size / 2, top + layout.row / 2, 2.5, 0, 2 * Math.PI);
  context.fill();
}
