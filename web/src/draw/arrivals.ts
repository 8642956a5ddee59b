/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of one collective side by side: who came when, and who waited.
 *
 *               execution 3         execution 7
 *   device 0    ▒▒▒▒▒▒▒▒█████       ▒▒█████        pale: waits for the last to come
 *   device 1            █████       ·▒█████        full: all are there
 */
import type { Arrival } from '../data/collectives';
import { turnWords, type Turn } from '../model/collectives';
import { toNumber } from '../model/numbers';
import type { Tokens } from './tokens';

export const ARRIVAL_ROW = 16;
const LABELS = 18;
const NAMES = 160;
const GAP = 16;

export interface ArrivalScene {
  lanes: readonly string[];
  laneOf: (row: Arrival) => string;
  turns: readonly Turn[];
  groups: number;
  chosen: { turn: number; lane: number } | null; // by keys
  width: number;
  ratio: number;
  tokens: Tokens;
  kind: number; // communication, in the order of the tokens' kinds
}

export function arrivalHeight(lanes: number): number {
  return LABELS + lanes * ARRIVAL_ROW + 4;
}

/* The panel and lane beneath a point. */
export function arrivalAt(
  scene: Pick<ArrivalScene, 'lanes' | 'turns' | 'width'>,
  x: number,
  y: number,
): { turn: number; lane: number } | null {
  const size = panelSize(scene.turns.length, scene.width);
  const turn = Math.floor((x - NAMES) / (size + GAP));
  const lane = Math.floor((y - LABELS) / ARRIVAL_ROW);
  return turn >= 0 && turn < scene.turns.length && lane >= 0 && lane < scene.lanes.length ? { turn, lane } : null;
}

/* Where the words of a device's execution stand: the begin of its lane in that panel, beneath it. */
export function arrivalPlace(
  scene: Pick<ArrivalScene, 'turns' | 'width'>,
  turn: number,
  lane: number,
): { x: number; y: number } {
  const x = NAMES + turn * (panelSize(scene.turns.length, scene.width) + GAP);
  return { x, y: LABELS + (lane + 1) * ARRIVAL_ROW };
}

function panelSize(panels: number, width: number): number {
  return Math.max(8, (width - NAMES) / Math.max(1, panels) - GAP);
}

export function paintArrivals(canvas: HTMLCanvasElement, scene: ArrivalScene): void {
  const { lanes, turns, width, ratio, tokens } = scene;
  const height = arrivalHeight(lanes.length);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${tokens.font}`;
  lanes.forEach((lane, row) => {
    context.fillStyle = tokens.ink;
    let text = lane;
    while (text.length > 1 && context.measureText(text).width > NAMES - 12) text = `${text.slice(0, -2)}…`;
    context.fillText(text, 0, LABELS + row * ARRIVAL_ROW + 12);
  });
  const size = panelSize(turns.length, width);
  const longest = Math.max(1, ...turns.map((turn) => turn.length)); // one scale for all
  turns.forEach((turn, index) => {
    const left = NAMES + index * (size + GAP);
    context.fillStyle = tokens.ink2;
    context.fillText(turnWords(turn, scene.groups), left, 12, size);
    context.fillStyle = tokens.line;
    context.fillRect(left - 1, LABELS, 1, lanes.length * ARRIVAL_ROW);
    for (const row of turn.arrivals) paintRun(context, scene, turn, row, left, size / longest);
  });
  if (scene.chosen === null) return;
  const { x, y } = arrivalPlace(scene, scene.chosen.turn, scene.chosen.lane);
  context.strokeStyle = tokens.accent;
  context.lineWidth = 2;
  context.strokeRect(x - 2, y - ARRIVAL_ROW, size + 4, ARRIVAL_ROW);
}

function paintRun(
  context: CanvasRenderingContext2D,
  scene: ArrivalScene,
  turn: Turn,
  row: Arrival,
  left: number,
  pixels: number,
): void {
  const lane = scene.lanes.indexOf(scene.laneOf(row));
  const colours = scene.tokens.kinds[scene.kind]!;
  const start = left + (toNumber(row.start_ps) - turn.start) * pixels;
  const size = Math.max(1, toNumber(row.dur_ps) * pixels);
  const wait = Math.min(size, toNumber(row.wait_ps ?? 0) * pixels);
  const top = LABELS + lane * ARRIVAL_ROW + 2;
  if (lane < 0) return;
  context.fillStyle = colours.css[1];
  context.globalAlpha = 0.35;
  context.fillRect(start, top, wait, ARRIVAL_ROW - 4);
  context.globalAlpha = 1;
  context.fillRect(start + wait, top, Math.max(1, size - wait), ARRIVAL_ROW - 4);
}
