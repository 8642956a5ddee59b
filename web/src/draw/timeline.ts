/* SPDX-License-Identifier: Apache-2.0 */
/* The base layer of the timeline: row images, labels, summaries, counters, step bounds.
 *
 * All edges lie on device pixels. Repainted when the window, the tiles, the theme or the search
 * changed, never at rest.
 */
import { sampled, type CounterSeries } from '../data/counter_store';
import type { TileStore } from '../data/tile_store';
import { CELL_CUT, CELL_FROM_BEFORE, CELL_GOES_ON, CELL_PARTIAL } from '../data/tiles';
import { shown } from '../model/cut';
import { rowsTop, type Band } from '../model/layout';
import { positionOf, type Viewport } from '../model/viewport';
import { paintCounter, paintScale } from './counter';
import { Labels } from './label';
import { paintArrows, type Arrow } from './arrows';
import { roomOf } from './label_room';
import { NEUTRAL, RowImage, UNRECORDED, type RowPaint, type SlotOf, type Span } from './row_image';
import { cellsOf, summaryOf, type Camera } from './scene';
import { paintSummary } from './summary';
import type { Tokens } from './tokens';

/* A stretch without a record; null: without a bound. */
export interface Unrecorded {
  start: bigint | null;
  end: bigint | null;
}

export interface TimelineScene {
  width: number; // CSS pixels
  height: number;
  ratio: number;
  viewport: Viewport;
  bands: readonly Band[]; // those on the screen
  scrollTop: number;
  stuck: number; // height of the pinned bands, which do not scroll
  store: TileStore;
  offsetOf: (host: string) => bigint;
  shiftOf: (host: string) => bigint; // how far it is drawn to the left
  tokens: Tokens;
  lit: ((name: number) => boolean) | null;
  bounds: readonly bigint[]; // of steps
  slotOf: SlotOf;
  unrecorded: (host: string) => readonly Unrecorded[]; // of what nothing was recorded
  counterOf: (track: string) => CounterSeries | null;
  arrows: readonly Arrow[]; // above the slices, below their names
}

export interface Painted {
  rows: number;
  covered: number; // rows painted from a tile or a coarser one
  kinds: number; // on the screen, a bit each; then containers, then what was not recorded
  families: number; // of compute, a bit each; what has none is OTHER_FAMILY
  names: ReadonlyMap<number, number>; // pixels that each name fills, where it is wide enough to see
}

const LABEL_PIXELS_MIN = 24;
const LABELS_MAX = 600;
const PADDING = 4;
const TRIANGLE = 7;
const NOTCH = 5;
const BOUND_PIXELS_MIN = 40;

/* Steps, modules and scopes hold work, they are none: neutral boxes. */
const CONTAINERS = new Set(['steps', 'modules', 'scopes']);

export function isContainer(band: Band): boolean {
  return CONTAINERS.has(band.node.track?.role ?? '');
}

interface Line {
  band: Band;
  depth: number;
  top: number; // device pixels
  height: number;
  paint: RowPaint;
}

/* What lies between two heights. */
interface Part {
  scene: TimelineScene;
  top: number;
  bottom: number;
  lines: readonly Line[];
}

/* Where more labels have room than a frame bears, narrow slices go without, by their width alone. */
function leastRoom(lines: readonly Line[], width: number, ratio: number): number {
  const counts: number[] = []; // of widths that grow by half
  const from = LABEL_PIXELS_MIN * ratio;
  for (const { paint } of lines)
    for (const span of paint.spans) {
      const step = Math.floor(Math.log(roomOf(span, width) / from) / Math.log(1.5));
      if (step >= 0) counts[step] = (counts[step] ?? 0) + 1;
    }
  let step = counts.length;
  for (let sum = counts[step - 1] ?? 0; step > 0 && sum <= LABELS_MAX; sum += counts[step - 1] ?? 0) step--;
  return from * 1.5 ** step;
}

export class TimelinePainter {
  private readonly image = new RowImage();
  private readonly context: CanvasRenderingContext2D;
  private readonly labels: Labels;
  private kinds = 0; // of this painting, as Painted has them
  private families = 0;
  private names = new Map<number, number>();
  private striped: { tokens: Tokens; ratio: number; pattern: CanvasPattern } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.labels = new Labels(this.context);
  }

  paint(scene: TimelineScene): Painted {
    const { context, canvas } = this;
    const width = Math.round(scene.width * scene.ratio);
    const height = Math.round(scene.height * scene.ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.fillStyle = scene.tokens.bg;
    context.fillRect(0, 0, width, height);
    const stuck = Math.round(scene.stuck * scene.ratio);
    this.kinds = 0;
    this.families = 0;
    this.names = new Map();
    const parts: Part[] = [];
    let covered = 0;
    const add = (part: TimelineScene, top: number, bottom: number): void => {
      this.within(width, top, bottom, () => {
        const rows = this.paintRows(part, width, top, bottom);
        covered += rows.covered;
        parts.push({ scene: part, top, bottom, lines: rows.lines });
        this.paintHeads(part, width, top, bottom);
        this.paintUnrecorded(part, width, top, bottom);
        this.paintBounds(part, width, bottom);
      });
    };
    add({ ...scene, bands: scene.bands.filter((band) => band.y >= scene.stuck) }, stuck, height);
    if (stuck > 0) {
      context.fillStyle = scene.tokens.bg; // over summaries, which no clip holds
      context.fillRect(0, 0, width, stuck);
      add({ ...scene, bands: scene.bands.filter((band) => band.y < scene.stuck), scrollTop: 0 }, 0, stuck);
      const unit = Math.max(1, Math.round(scene.ratio));
      context.fillStyle = scene.tokens.edge;
      context.fillRect(0, stuck - unit, width, unit);
    }
    paintArrows(context, scene.arrows, scene.ratio, scene.tokens);
    for (const part of parts)
      this.within(width, part.top, part.bottom, () => {
        this.paintScales(part.scene, width);
        this.paintText(part.scene, part.lines, width);
      });
    const rows = parts.reduce((sum, part) => sum + part.lines.length, 0);
    return { rows, covered, kinds: this.kinds, families: this.families, names: this.names };
  }

  private within(width: number, top: number, bottom: number, paint: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(0, top, width, bottom - top);
    context.clip();
    paint();
    context.restore();
  }

  private camera(scene: TimelineScene, host: string): Camera {
    return { viewport: scene.viewport, pixels: Math.round(scene.width * scene.ratio), offset: scene.offsetOf(host) };
  }

  private visibleLines(scene: TimelineScene, from: number, to: number): Omit<Line, 'paint'>[] {
    const lines: Omit<Line, 'paint'>[] = [];
    const gap = scene.bands[0]?.rowHeight === 8 ? 1 : 2;
    for (const band of scene.bands)
      for (let depth = 0; depth < band.depthCount; depth++) {
        const y = rowsTop(band) + depth * band.rowHeight - scene.scrollTop;
        const top = Math.round(y * scene.ratio);
        const size = Math.round((band.rowHeight - gap) * scene.ratio);
        if (top + size > from && top < to) lines.push({ band, depth, top, height: size });
      }
    return lines;
  }

  private paintRows(scene: TimelineScene, width: number, from: number, to: number): { lines: Line[]; covered: number } {
    const places = this.visibleLines(scene, from, to);
    let covered = 0;
    this.image.begin(width, places.length, scene.tokens, scene.slotOf);
    const lines = places.map((line, row): Line => {
      const track = line.band.node.track!.id;
      const cells = cellsOf(scene.store, { track, depth: line.depth }, this.camera(scene, line.band.node.host));
      if (cells.covered) covered++;
      const paint = this.image.paint(row, cells.placed, isContainer(line.band), scene.lit);
      this.kinds |= paint.kinds;
      this.families |= paint.families;
      for (const span of paint.spans)
        if (span.kind !== NEUTRAL)
          this.names.set(
            span.name,
            (this.names.get(span.name) ?? 0) + Math.min(width, span.right) - Math.max(0, span.left),
          );
      this.image.strokes(paint, scene.tokens, scene.lit);
      return { ...line, paint };
    });
    const image = this.image.end();
    this.context.imageSmoothingEnabled = false;
    lines.forEach((line, row) => {
      this.context.drawImage(image, 0, row, width, 1, 0, line.top, width, line.height);
    });
    return { lines, covered };
  }

  private paintHeads(scene: TimelineScene, width: number, from: number, to: number): void {
    const { context } = this;
    for (const band of scene.bands) {
      const top = Math.round((band.y - scene.scrollTop) * scene.ratio);
      if (top >= to || top + Math.round(band.height * scene.ratio) <= from) continue;
      if (band.node.kind === 'counter') {
        const series = scene.counterOf(band.node.id);
        if (series)
          paintCounter(
            context,
            series,
            { ...scene.viewport, base: scene.viewport.base + scene.shiftOf(band.node.host) },
            { top, width, height: Math.round(band.height * scene.ratio) },
            scene.tokens,
            scene.ratio,
          );
      } else if (band.summaries.length > 0) {
        const camera = this.camera(scene, band.node.host);
        const summaries = band.summaries.map((track) => summaryOf(scene.store, track, camera));
        const inset = Math.round(3 * scene.ratio);
        this.kinds |= paintSummary(
          context,
          summaries,
          { top: top + inset, width, height: Math.round(band.height * scene.ratio) - 2 * inset },
          scene.tokens,
        );
      }
      if (band.node.children.length > 0 && band.y > 0) {
        context.fillStyle = scene.tokens.line;
        context.fillRect(0, top, width, Math.max(1, Math.round(scene.ratio)));
      }
    }
  }

  private paintScales(scene: TimelineScene, width: number): void {
    for (const band of scene.bands) {
      const series = band.node.kind === 'counter' ? scene.counterOf(band.node.id) : null;
      if (!series) continue;
      const top = Math.round((band.y - scene.scrollTop) * scene.ratio);
      const box = { top, width, height: Math.round(band.height * scene.ratio) };
      const words = (value: number): string => sampled(band.node.name, value);
      paintScale(this.context, series, box, words, scene.tokens, scene.ratio);
    }
  }

  private paintBounds(scene: TimelineScene, width: number, height: number): void {
    const { context } = this;
    context.strokeStyle = scene.tokens.edge;
    context.lineWidth = Math.max(1, Math.round(scene.ratio));
    context.setLineDash([scene.ratio, 3 * scene.ratio]);
    context.beginPath();
    const inView = scene.bounds
      .map((bound) => Math.round(positionOf(scene.viewport, bound) * width) + 0.5)
      .filter((x) => x >= 0 && x <= width);
    if (width / Math.max(1, inView.length) < BOUND_PIXELS_MIN * scene.ratio) inView.length = 0;
    for (const x of new Set(inView)) {
      context.moveTo(x, 0);
      context.lineTo(x, height);
    }
    context.stroke();
    context.setLineDash([]);
  }

  private paintText(scene: TimelineScene, lines: readonly Line[], width: number): void {
    const { context } = this;
    context.font = `${11 * scene.ratio}px ${scene.tokens.font}`;
    context.textBaseline = 'middle';
    const least = leastRoom(lines, width, scene.ratio);
    for (const line of lines) {
      for (const instant of line.paint.instants) this.triangle(scene, instant, line);
      if (line.height < 12 * scene.ratio) continue;
      for (const span of line.paint.spans) {
        if (span.kind === NEUTRAL) this.box(scene, span, line, width);
        if (span.flags & CELL_CUT) this.torn(scene, span, line);
        if (span.flags & CELL_PARTIAL) this.notch(scene, span, line);
        if (roomOf(span, width) >= least) this.label(scene, span, line, width);
      }
    }
  }

  private box(scene: TimelineScene, span: Span, line: Line, width: number): void {
    const unit = Math.max(1, Math.round(scene.ratio));
    const from = Math.max(-unit, Math.round(span.left));
    const to = Math.min(width + unit, Math.round(span.right));
    if (to - from < 3 * unit) return;
    this.context.strokeStyle = scene.tokens.edge;
    this.context.lineWidth = unit;
    this.context.strokeRect(from + unit / 2, line.top + unit / 2, to - from - unit, line.height - unit);
  }

  /* Stands in what of its slice is on the screen, and is cut to that. */
  private label(scene: TimelineScene, span: Span, line: Line, width: number): void {
    const padding = Math.round(PADDING * scene.ratio);
    const text = this.labels.fit(shown(scene.store.names.texts[span.name]), roomOf(span, width) - 1.5 * padding);
    if (text === '') return;
    const lit = scene.lit === null || scene.lit(span.name);
    this.context.fillStyle = !lit
      ? scene.tokens.ink3
      : span.kind === NEUTRAL
        ? scene.tokens.ink
        : scene.tokens.slots[span.slot]!.label;
    this.context.fillText(
      text,
      Math.max(0, Math.round(span.left)) + padding,
      line.top + Math.round(line.height / 2) + 0.5 * scene.ratio,
    );
  }

  /* An end that is not in the file is torn off. */
  private torn(scene: TimelineScene, span: Span, line: Line): void {
    const tooth = line.height / 4;
    const depth = Math.min(tooth, (span.right - span.left) / 3);
    if (span.flags & CELL_GOES_ON || depth < 1) return;
    const x = Math.round(span.right);
    const { context } = this;
    context.fillStyle = scene.tokens.bg;
    context.beginPath();
    context.moveTo(x, line.top);
    for (let tip = 0; tip < 4; tip++) {
      context.lineTo(x - depth, line.top + (tip + 0.5) * tooth);
      context.lineTo(x, line.top + (tip + 1) * tooth);
    }
    context.fill();
  }

  /* One that overlaps another without lying inside it lacks its corner. */
  private notch(scene: TimelineScene, span: Span, line: Line): void {
    const size = NOTCH * scene.ratio;
    if (span.flags & CELL_FROM_BEFORE || span.right - span.left < 3 * size) return;
    const { context } = this;
    const x = Math.round(span.left);
    context.fillStyle = scene.tokens.bg;
    context.beginPath();
    context.moveTo(x, line.top);
    context.lineTo(x + size, line.top);
    context.lineTo(x, line.top + size);
    context.fill();
  }

  /* 45° stripes where nothing was recorded, over the whole height of a host's bands. */
  private paintUnrecorded(scene: TimelineScene, width: number, from: number, to: number): void {
    const { context } = this;
    for (const band of scene.bands) {
      const top = Math.max(from, Math.round((band.y - scene.scrollTop) * scene.ratio));
      const bottom = Math.min(to, Math.round((band.y + band.height - scene.scrollTop) * scene.ratio));
      for (const { start, end } of scene.unrecorded(band.node.host)) {
        const left = start === null ? 0 : Math.max(0, Math.round(positionOf(scene.viewport, start) * width));
        const right = end === null ? width : Math.min(width, Math.round(positionOf(scene.viewport, end) * width));
        if (right <= left || bottom <= top) continue;
        this.kinds |= 1 << UNRECORDED;
        context.fillStyle = this.stripes(scene);
        context.fillRect(left, top, right - left, bottom - top);
      }
    }
  }

  private stripes(scene: TimelineScene): CanvasPattern {
    if (this.striped?.tokens === scene.tokens && this.striped.ratio === scene.ratio) return this.striped.pattern;
    const size = Math.round(8 * scene.ratio);
    const tile = new OffscreenCanvas(size, size);
    const context = tile.getContext('2d')!;
    context.fillStyle = scene.tokens.bg2;
    context.fillRect(0, 0, size, size);
    context.strokeStyle = scene.tokens.line;
    context.lineWidth = 2 * scene.ratio;
    for (const shift of [-size, 0, size]) {
      context.moveTo(shift - 2, size + 2);
      context.lineTo(shift + size + 2, -2);
    }
    context.stroke();
    const pattern = this.context.createPattern(tile, 'repeat')!;
    this.striped = { tokens: scene.tokens, ratio: scene.ratio, pattern };
    return pattern;
  }

  private triangle(scene: TimelineScene, { x, kind, name }: RowPaint['instants'][number], line: Line): void {
    const { context } = this;
    const lit = scene.lit === null || scene.lit(name);
    const half = (TRIANGLE / 2) * scene.ratio;
    const bottom = line.top + line.height;
    context.fillStyle = !lit
      ? scene.tokens.line
      : kind === NEUTRAL
        ? scene.tokens.ink2
        : scene.tokens.kinds[kind]!.strokeCss;
    context.beginPath();
    context.moveTo(x - half, bottom);
    context.lineTo(x + half, bottom);
    context.lineTo(x, Math.max(line.top, bottom - TRIANGLE * scene.ratio));
    context.fill();
  }
}
