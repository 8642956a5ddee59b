/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline as it is seen, taken away: names, ruler, tracks, and what lies over them. */
import { OverlayPainter } from '../../draw/overlay';
import { TimelinePainter } from '../../draw/timeline';
import { readTokens } from '../../draw/tokens';
import { cutMiddle, shown } from '../../model/cut';
import type { Tick } from '../../model/ticks';
import { savePicture, type Layer } from '../../ui/picture';
import type { TimelineState } from './state';
import { overlayOf, sceneOf } from './tracks';

const NAMES = 220;
const RULER = 24;
const NAME_ROW = 24;
const LETTER = 6.6; // pixels, of 11 px

function begin(canvas: HTMLCanvasElement, ratio: number, width: number, height: number): CanvasRenderingContext2D {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  const { bg, font } = readTokens();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = bg;
  context.fillRect(0, 0, width, height);
  context.font = `11px ${font}`;
  context.textBaseline = 'middle';
  return context;
}

function paintNames(state: TimelineState, context: CanvasRenderingContext2D): void {
  const { ink, ink2 } = readTokens();
  for (const band of state.visibleBands()) {
    const left = 12 + 12 * Math.min(4, band.level - 1);
    context.fillStyle = band.node.children.length > 0 ? ink : ink2;
    context.fillText(
      cutMiddle(shown(band.label), Math.floor((NAMES - left - 8) / LETTER)),
      left,
      state.screenY(band) + Math.min(band.height, NAME_ROW) / 2,
    );
  }
}

function paintRuler(context: CanvasRenderingContext2D, ticks: readonly Tick[], width: number): void {
  const { ink2, edge } = readTokens();
  for (const { position, text } of ticks) {
    const x = NAMES + Math.round(position * width);
    context.fillStyle = edge;
    context.fillRect(x, RULER - 6, 1, 6);
    context.fillStyle = ink2;
    context.fillText(text, x + 4, RULER / 2);
  }
}

export function saveTimeline(state: TimelineState, as: 'svg' | 'png', ticks: readonly Tick[]): void {
  const { width, height } = state.size.value;
  const below = { y: RULER, height };
  const layers: Layer[] = [
    {
      x: 0,
      y: 0,
      width: NAMES + width,
      height: RULER,
      paint: (canvas, ratio) => paintRuler(begin(canvas, ratio, NAMES + width, RULER), ticks, width),
    },
    { x: 0, ...below, width: NAMES, paint: (canvas, ratio) => paintNames(state, begin(canvas, ratio, NAMES, height)) },
    {
      x: NAMES,
      ...below,
      width,
      paint: (canvas, ratio) => void new TimelinePainter(canvas).paint({ ...sceneOf(state, readTokens()), ratio }),
    },
    {
      x: NAMES,
      ...below,
      width,
      paint: (canvas, ratio) =>
        new OverlayPainter(canvas).paint({
          ...overlayOf(state, readTokens()),
          ratio,
          cursor: null,
          hover: null,
          mates: [],
        }),
    },
  ];
  savePicture(as, `${state.run.name}-timeline`, layers);
}
