/* SPDX-License-Identifier: Apache-2.0 */
/* The upper layer: hover, focus, range, hits. Cheap, repainted with the pointer. */
import { positionOf, type Viewport } from '../model/viewport';
import type { Span } from '../model/address';
import type { Tokens } from './tokens';

export interface Rect {
  left: number; // CSS pixels
  right: number;
  top: number;
  height: number;
}

export interface OverlayScene {
  width: number;
  height: number;
  ratio: number;
  viewport: Viewport;
  tokens: Tokens;
  range: Span | null;
  veiled: readonly { top: number; height: number }[]; // rows outside a box
  marks: readonly Span[];
  focus: Rect | null;
  hover: Rect | null;
  cursor: number | null;
  hits: readonly Rect[];
  ticks: readonly Rect[]; // where hits are that are too small for an outline
  links: readonly Rect[]; // of the chain to the left of the focus
  mates: readonly Rect[]; // of the slice below the pointer: its launch, or what it launched
}

export class OverlayPainter {
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d')!;
  }

  paint(scene: OverlayScene): void {
    const { context, canvas } = this;
    const width = Math.round(scene.width * scene.ratio);
    const height = Math.round(scene.height * scene.ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
    context.clearRect(0, 0, scene.width, scene.height);
    this.paintRange(scene);
    this.paintMarks(scene);
    context.fillStyle = scene.tokens.accent;
    for (const tick of scene.ticks) context.fillRect(Math.round(tick.left), Math.round(tick.top), 2, tick.height);
    for (const hit of scene.hits) this.outline(hit, scene, scene.tokens.accent, 1);
    if (scene.cursor !== null) {
      context.fillStyle = scene.tokens.ink3;
      context.fillRect(Math.round(scene.cursor), 0, 1, scene.height);
    }
    for (const link of scene.links) this.outline(link, scene, scene.tokens.ink, 1);
    for (const mate of scene.mates) this.outline(mate, scene, scene.tokens.ink, 2);
    if (scene.hover) this.outline(scene.hover, scene, scene.tokens.ink, 1);
    if (scene.focus) {
      this.outline(grown(scene.focus, 2), scene, scene.tokens.bg, 1);
      this.outline(grown(scene.focus, 1), scene, scene.tokens.ink, 2);
    }
  }

  /* What is outside is veiled; inside nothing is tinted. */
  private paintRange(scene: OverlayScene): void {
    if (!scene.range) return;
    const { context } = this;
    const from = Math.round(positionOf(scene.viewport, scene.range.start) * scene.width);
    const to = Math.round(positionOf(scene.viewport, scene.range.end) * scene.width);
    context.save();
    context.globalAlpha = 0.55;
    context.fillStyle = scene.tokens.bg;
    context.fillRect(0, 0, Math.max(0, from), scene.height);
    context.fillRect(to, 0, Math.max(0, scene.width - to), scene.height);
    for (const { top, height } of scene.veiled)
      context.fillRect(Math.max(0, from), top, Math.min(scene.width, to) - Math.max(0, from), height);
    context.restore();
    context.fillStyle = scene.tokens.accent;
    context.fillRect(from, 0, 1, scene.height);
    context.fillRect(to - 1, 0, 1, scene.height);
  }

  /* Kept ranges: an edge each, no veil. */
  private paintMarks(scene: OverlayScene): void {
    const { context } = this;
    context.fillStyle = scene.tokens.ink3;
    for (const mark of scene.marks)
      for (const time of [mark.start, mark.end]) {
        const x = Math.round(positionOf(scene.viewport, time) * scene.width);
        if (x < 0 || x > scene.width) continue;
        for (let y = 0; y < scene.height; y += 6) context.fillRect(x, y, 1, 3);
      }
  }

  private outline(rect: Rect, scene: OverlayScene, colour: string, size: number): void {
    const left = Math.max(-size, Math.round(rect.left));
    const right = Math.min(scene.width + size, Math.max(left + 1, Math.round(rect.right)));
    if (right < 0 || left > scene.width) return;
    this.context.strokeStyle = colour;
    this.context.lineWidth = size;
    this.context.strokeRect(left + size / 2, Math.round(rect.top) + size / 2, right - left - size, rect.height - size);
  }
}

function grown(rect: Rect, by: number): Rect {
  return { left: rect.left - by, right: rect.right + by, top: rect.top - by, height: rect.height + 2 * by };
}
