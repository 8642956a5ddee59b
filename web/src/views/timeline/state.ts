/* SPDX-License-Identifier: Apache-2.0 */
/* What the timeline knows: window, open tracks, scroll, pointer; and how they move.
 *
 *   address  window= slice= start_ps= end_ps= open=      what can be sent to a colleague
 *   signals  viewport scrollTop hover                    what moves sixty times a second
 */
import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { PathReply } from '../../data/critical';
import { CounterStore } from '../../data/counter_store';
import { LOCAL_TRACK, trackOf, type LocalTrack } from '../../data/local_track';
import { fromAddress, go, query, word } from '../../data/place';
import { TileStore, type RowKey, type Want } from '../../data/tile_store';
import { loadJson } from '../../data/resource';
import type { ChainReply, RunDetails, Slice, SliceDetails, StepRow, TopList, Track } from '../../data/types';
import { wantedTiles, type Camera } from '../../draw/scene';
import type { Painted, Unrecorded } from '../../draw/timeline';
import { formatSpan, parseSpan, rangeOf, type Span } from '../../model/address';
import {
  arrangementOf,
  bandsOnScreen,
  emptyIn,
  hiddenBy,
  layoutY,
  layoutOf,
  METRICS,
  narrowingOf,
  openAtFirst,
  openOf,
  openParam,
  rowsTop,
  screenY,
  stuckHeight,
  treeOf,
  unlikeNamed,
  type Arrangement,
  type Band,
  type Narrowing,
} from '../../model/layout';
import { amountLevel, colouringOf, familyOf } from '../../model/colouring';
import { formatMarks, nextMarkText, parseMarks, type Mark } from '../../model/marks';
import { shiftsOf } from '../../model/stack';
import { nameText } from '../../model/search';
import { toBig } from '../../model/numbers';
import { between, clamped, endOf, panned, startOf, viewportOf, zoomed, type Viewport } from '../../model/viewport';
import { settings } from '../../ui/settings';
import type { DrawnFlow } from './flows';

/* What keeps its colour: what the search looks for, or the row below the pointer. */
export interface Lit {
  text: string; // in lower case
  exact: boolean;
}

export function litBySearch(find: string | undefined): Lit | null {
  return find ? { text: nameText(find), exact: false } : null;
}

export interface Hover {
  x: number; // CSS pixels within the canvas
  y: number;
}

/* The pointer over these tracks and no button down: what its tooltip tells of. */
export interface Under extends Hover {
  clientX: number;
  clientY: number;
}

/* Two runs on one axis: window and pointer are of both; what a run has at its zero is drawn at 0. Such
 * a timeline is only looked at: a click leads elsewhere, nothing is selected, folded or moved. */
export interface Axis {
  viewport: Signal<Viewport>;
  hover: Signal<Hover | null>;
  zero: ReadonlySignal<bigint>; // in the time of this run
  reach: ReadonlySignal<Span>; // of both runs, on the axis
  tracks: readonly string[]; // those shown
  onSlice: (slice: Slice) => void;
  moveBy: (ps: bigint) => void; // this run against the other
}

/* What the slice below the pointer launched, or what launched it. */
export interface Mates {
  flows: readonly DrawnFlow[];
  slices: readonly Slice[];
}
export const NO_MATES: Mates = { flows: [], slices: [] };

/* Kinds and families: a bit each. */
export interface InUse {
  kinds: number;
  families: number;
  names: readonly number[];
}

export type Tab = 'slice' | 'range' | 'flame' | 'slices' | 'search'; // of the pane below

/* How many hits begin when: over the run, and of each track over a window. */
export interface Density {
  run: readonly number[];
  span: Span;
  tracks: ReadonlyMap<string, readonly number[]>;
}

const ZOOM_MS = 120;
const ADDRESS_MS = 250;
const PREFETCH_LEVELS = 3;
const NAMES_MAX = 10_000;
const LEGEND_NAMES = 8;

export class TimelineState {
  readonly roots;
  readonly start: bigint;
  readonly end: bigint;
  readonly offsets = new Map<string, bigint>();
  private readonly hulls = new Map<string, Span>(); // of what was recorded, by host
  readonly viewport: Signal<Viewport>;
  readonly open = signal<ReadonlySet<string>>(new Set());
  readonly scrollTop = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly hover: Signal<Hover | null>;
  readonly under = signal<Under | null>(null);
  readonly hoverSlice = signal<{ slice: Slice; band: Band } | null>(null);
  readonly mates = signal<Mates>(NO_MATES); // of hoverSlice
  readonly focus = signal<SliceDetails | null>(null);
  readonly flows = signal<readonly DrawnFlow[]>([]); // of the focus, and along the path
  readonly tab = signal<Tab>('range');
  readonly draft = signal<Span | null>(null); // a range while it is dragged
  readonly draftTracks = signal<readonly string[] | null>(null); // of a box
  readonly lit = signal<Lit | null>(null);
  readonly hits = signal<readonly Slice[]>([]); // of the search
  readonly chained = signal(false); // the chain to the left of the focus is shown
  readonly chain = signal<ChainReply | null>(null);
  readonly listing = signal<{ track: string; at: bigint } | null>(null); // a track's events, from there on
  readonly listed = signal(0); // how often the track's table was asked for
  readonly density = signal<Density | null>(null); // of its hits: in the whole run, and by track in the window
  /* What colours on the screen stand for. */
  readonly inUse = signal<InUse>({ kinds: 0, families: 0, names: [] });
  readonly steps = signal<readonly StepRow[]>([]);
  readonly stepsKnown = signal(false);
  readonly path = signal<PathReply | null>(null); // the critical path of the step in sight
  readonly levels = signal<ReadonlyMap<string, number>>(new Map()); // of names, by self time
  readonly families = signal<ReadonlyMap<string, number>>(new Map()); // of names of compute
  readonly colouring = computed(() => colouringOf(query.value.colour));
  readonly arrivals = signal(0);
  readonly painted = signal(false); // something of what is on the screen was drawn once
  readonly store: TileStore;
  readonly counters: CounterStore;
  readonly kept = fromAddress((query) => `${query.start_ps}-${query.end_ps}`, parseSpan); // the range in the address
  readonly range = computed(() => this.draft.value ?? this.kept.value);
  /* A box veils the other tracks, as a range veils the rest of the time; tracks without a range hide them. */
  private readonly keptTracks = fromAddress(
    (query) => query.track,
    (text) => text?.split(',') ?? null,
  );
  readonly rangeTracks = computed(() => this.draftTracks.value ?? (this.kept.value && this.keptTracks.value));
  readonly marks = fromAddress((query) => query.mark, parseMarks);
  /* As texts, so that a window written into the address lays out nothing anew. */
  private readonly narrowed = computed(() =>
    JSON.stringify(
      this.axis
        ? { tracks: this.axis.tracks, hosts: [], devices: [] }
        : { ...narrowingOf(query.value), ...(rangeOf(query.value) === null ? {} : { tracks: [] }) },
    ),
  );
  readonly arrangement = fromAddress(
    (query) => JSON.stringify(arrangementOf(query)),
    (text) => JSON.parse(text!) as Arrangement,
  );
  private readonly named = computed(() => query.value.lanes ?? '');
  readonly hidden = computed(
    () =>
      new Set([
        ...hiddenBy(this.roots, JSON.parse(this.narrowed.value) as Narrowing),
        ...unlikeNamed(this.roots, this.named.value),
      ]),
  );
  readonly layout = computed(() =>
    layoutOf(
      this.roots,
      (id) => this.open.value.has(id),
      METRICS[settings.value.rows]!,
      this.hidden.value,
      this.arrangement.value,
    ),
  );
  /* By host, of `stack=STEP`; none where the hosts stand by their clocks. */
  private readonly stack = word('stack');
  readonly shifts = computed(() => shiftsOf(this.steps.value, this.stack.value));
  readonly stuck = computed(() => stuckHeight(this.layout.value, this.size.value.height)); // pixels of pinned bands
  private readonly first: Set<string>; // what is open without a word in the address
  private frame = 0;
  private glidesTo: Viewport | null = null;
  private addressTimer = 0;
  private readonly returns = new Map<string, Viewport>();
  private readonly stop: () => void;

  constructor(
    readonly run: RunDetails,
    tracks: readonly Track[],
    readonly axis: Axis | null = null,
    readonly local: LocalTrack | null = null, // of a query, made on the page
  ) {
    this.roots = treeOf(tracks);
    if (local) this.roots.unshift(...treeOf([trackOf(local)]));
    this.viewport = axis?.viewport ?? signal(viewportOf(0n, 1n));
    this.hover = axis?.hover ?? signal(null);
    const arrived = () => void this.arrivals.value++;
    this.store = new TileStore(run.id, run.content_id, arrived, local);
    this.counters = new CounterStore(run.id, arrived);
    for (const host of run.hosts) this.offsets.set(host.name, toBig(host.offset_ps ?? 0));
    for (const track of run.hosts.length > 1 ? tracks : []) this.widenHull(track);
    this.start = 0n;
    this.end = run.duration_ps === null ? 1n : toBig(run.duration_ps);
    this.first = openAtFirst(this.roots);
    if (local) this.first.add(LOCAL_TRACK);
    this.open.value = axis
      ? new Set(tracks.map((track) => track.id).concat(this.roots.map((node) => node.id)))
      : openOf(this.first, query.value.open);
    if (!axis) this.viewport.value = this.windowOfAddress() ?? this.whole();
    this.stop = effect(() => {
      const asked = parseSpan(query.value.window);
      const now = this.viewport.peek();
      if (
        asked &&
        (asked.start !== startOf(now) || asked.end !== endOf(now)) &&
        this.addressTimer === 0 &&
        this.frame === 0
      )
        this.viewport.value = viewportOf(asked.start, asked.end);
    });
  }

  private widenHull({ host, kind, slice_count, start_ps, end_ps }: Track): void {
    if (kind === 'counter' || slice_count === 0 || start_ps === null || end_ps === null) return;
    const [start, end] = [toBig(start_ps), toBig(end_ps)];
    const hull = this.hulls.get(host) ?? { start, end };
    this.hulls.set(host, { start: start < hull.start ? start : hull.start, end: end > hull.end ? end : hull.end });
  }

  close(): void {
    this.stop();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.addressTimer);
    this.store.close();
  }

  /* What the window keeps in sight. */
  get reach(): Span {
    return this.axis?.reach.value ?? { start: this.start, end: this.end };
  }

  whole(): Viewport {
    const { start, end } = this.reach;
    const margin = (end - start) / 100n;
    return viewportOf(start - margin, end + margin);
  }

  private windowOfAddress(): Viewport | null {
    const asked = parseSpan(query.value.window);
    return asked === null ? null : viewportOf(asked.start, asked.end);
  }

  offsetOf = (host: string): bigint => (this.offsets.get(host) ?? 0n) - this.shiftOf(host);

  /* How far a host is drawn to the left, so that a step begins on all hosts, or in both runs, at once. */
  shiftOf = (host: string): bigint => this.axis?.zero.value ?? this.shifts.value.get(host) ?? 0n;

  /* The counted steps are the first view; without them the whole run. */
  showSteps(steps: readonly StepRow[]): void {
    this.steps.value = steps;
    this.stepsKnown.value = true;
    const counted = steps.filter((step) => !step.warmup);
    if (counted.length < 2) return;
    const start = counted.map((step) => toBig(step.start_ps)).reduce((a, b) => (a < b ? a : b));
    const end = counted.map((step) => toBig(step.start_ps) + toBig(step.dur_ps)).reduce((a, b) => (a > b ? a : b));
    const empty = emptyIn(this.roots, this.first, start, end);
    if (empty.length > 0) {
      for (const id of empty) this.first.delete(id);
      this.open.value = openOf(this.first, query.value.open);
    }
    if (query.value.window !== undefined) return;
    const margin = (end - start) / 50n;
    this.viewport.value = viewportOf(start - margin, end + margin);
  }

  /* What colours tell when they tell self time: each name beside the heaviest. */
  async weighNames(): Promise<void> {
    if (this.levels.value.size > 0) return;
    const top = await loadJson<TopList>('api/top', {
      run: this.run.id,
      by: 'name',
      sort: '-self_ps',
      limit: NAMES_MAX,
    });
    const most = Number(top.rows[0]?.self_ps ?? 0) || 1;
    this.levels.value = new Map(top.rows.map((row) => [row.name, amountLevel(Number(row.self_ps) / most)]));
  }

  /* By category of ops and kernels; of names that mean several, of that with most time. */
  async findFamilies(): Promise<void> {
    const found = new Map<string, number>();
    for (const by of ['op', 'kernel']) {
      const params = { run: this.run.id, by, sort: '-self_ps', limit: NAMES_MAX, spread: 'none' };
      const top = await loadJson<TopList>('api/top', params);
      if (top.by !== by) continue;
      for (const row of top.rows) {
        const family = row.kind === 'compute' ? familyOf(row.category) : -1;
        if (family >= 0 && !found.has(row.name)) found.set(row.name, family);
      }
    }
    this.families.value = found;
  }

  /* What no file says anything of: before and after the run, and of each host before its first and
   * after its last slice. */
  unrecordedOf = (host: string): readonly Unrecorded[] => {
    const hull = this.hulls.get(host);
    const shift = this.shiftOf(host);
    const unshifted = [
      { start: null, end: hull?.start ?? this.start },
      { start: hull?.end ?? this.end, end: null },
    ];
    return unshifted.map(({ start, end }) => ({
      start: start === null ? null : start - shift,
      end: end === null ? null : end - shift,
    }));
  };

  /* Moving. */
  set(viewport: Viewport): void {
    this.viewport.value = clamped(viewport, this.reach.start, this.reach.end);
    clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => {
      this.addressTimer = 0;
      const now = this.viewport.value;
      go({ window: formatSpan({ start: startOf(now), end: endOf(now) }) }, 'replace');
    }, ADDRESS_MS);
  }

  pan(byWidths: number): void {
    this.halt();
    this.set(panned(this.viewport.value, byWidths));
  }

  zoom(factor: number, position: number): void {
    this.halt();
    this.set(zoomed(this.viewport.value, factor, position, this.spanMax));
  }

  get spanMax(): number {
    return Number(this.reach.end - this.reach.start) * 1.25;
  }

  halt(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  /* Where the window is going, so that keys pressed quickly add up. */
  get goal(): Viewport {
    return this.frame === 0 || this.glidesTo === null ? this.viewport.value : this.glidesTo;
  }

  glide(to: Viewport): void {
    this.halt();
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.set(to);
    this.glidesTo = clamped(to, this.reach.start, this.reach.end);
    const from = this.viewport.value;
    const begin = performance.now();
    const step = (now: number): void => {
      const progress = Math.min(1, (now - begin) / ZOOM_MS);
      this.set(between(from, to, 1 - (1 - progress) ** 3));
      this.frame = progress < 1 ? requestAnimationFrame(step) : 0;
    };
    this.frame = requestAnimationFrame(step);
  }

  /* The same key again returns. */
  showSpan(key: string, span: Span, margin = 0.1): void {
    const before = this.returns.get(key);
    if (before) {
      this.returns.delete(key);
      return this.glide(before);
    }
    this.returns.clear();
    this.returns.set(key, this.viewport.value);
    const size = span.end - span.start;
    const edge = BigInt(Math.ceil(Number(size) * margin));
    this.glide(viewportOf(span.start - edge, span.end + edge + (size === 0n ? 1000n : 0n)));
  }

  /* The events of its track around a slice, in the table below. */
  listTrack(slice: Slice): void {
    this.listing.value = { track: slice.track, at: toBig(slice.start_ps) };
    this.listed.value++;
  }

  /* After a painting: the widest names first. */
  tellColours({ kinds, families, names }: Pick<Painted, 'kinds' | 'families' | 'names'>): void {
    const widest =
      this.colouring.value === 'name'
        ? [...names]
            .sort((a, b) => b[1] - a[1])
            .slice(0, LEGEND_NAMES)
            .map(([name]) => name)
        : [];
    const before = this.inUse.peek();
    if (before.kinds !== kinds || before.families !== families || String(before.names) !== String(widest))
      this.inUse.value = { kinds, families, names: widest };
  }

  dropDraft(): void {
    this.draft.value = null;
    this.draftTracks.value = null;
  }

  setMarks(marks: readonly Mark[]): void {
    go({ mark: formatMarks(marks) }, 'replace');
  }

  /* The range, else the focus, else the window, kept. */
  keepMark(span: Span): void {
    if (this.marks.value.some((mark) => mark.start === span.start && mark.end === span.end)) return;
    this.setMarks([...this.marks.value, { ...span, text: nextMarkText(this.marks.value) }]);
  }

  toggle(id: string): void {
    const open = new Set(this.open.value);
    if (!open.delete(id)) open.add(id);
    this.open.value = open;
    go({ open: openParam(this.first, open) || null }, 'replace');
  }

  /* Brings a slice into sight: opens its track, scrolls, and moves the window if it lies outside. */
  reveal(slice: Slice): void {
    const parents = new Map<string, string>();
    const walk = (nodes: typeof this.roots, above: string[]): void => {
      for (const node of nodes) {
        if (node.id === slice.track) for (const id of [...above, node.id]) parents.set(id, id);
        walk(node.children, [...above, node.id]);
      }
    };
    walk(this.roots, []);
    if ([...parents.keys()].some((id) => !this.open.value.has(id)))
      this.open.value = new Set([...this.open.value, ...parents.keys()]);
    const band = this.layout.value.bands.find((one) => one.node.id === slice.track);
    if (band) this.scrollTo(rowsTop(band) + slice.depth * band.rowHeight, band.rowHeight);
    const start = toBig(slice.start_ps);
    const end = start + toBig(slice.dur_ps);
    const now = this.viewport.value;
    if (end < startOf(now) || start > endOf(now)) {
      const middle = (start + end) / 2n;
      const half = BigInt(Math.round(Math.max(now.span, Number(end - start) * 1.2) / 2));
      this.glide(viewportOf(middle - half, middle + half));
    }
  }

  private scrollTo(y: number, height: number): void {
    const { scrollTop, size } = this;
    const stuck = this.stuck.value;
    if (y < stuck) return;
    if (y < scrollTop.value + stuck) scrollTop.value = Math.max(0, y - stuck - 24);
    else if (y + height > scrollTop.value + size.value.height) scrollTop.value = y + height - size.value.height + 24;
  }

  cameraOf(host: string): Camera {
    return {
      viewport: this.viewport.value,
      pixels: Math.round(this.size.value.width * devicePixelRatio),
      offset: this.offsetOf(host),
    };
  }

  visibleBands(): Band[] {
    return bandsOnScreen(this.layout.value, this.scrollTop.value, this.size.value.height, this.stuck.value);
  }

  /* Heights on the screen, of a band and back. */
  screenY(band: Band): number {
    return screenY(band, this.scrollTop.value, this.stuck.value);
  }

  layoutY(y: number): number {
    return layoutY(y, this.scrollTop.value, this.stuck.value);
  }

  /* Tiles of the rows on the screen; then those of the minimap and of the whole run, a last parent for
   * any window; then their nearer parents and neighbours. */
  request(minimap: Want[]): void {
    const byHost = new Map<string, RowKey[]>();
    for (const band of this.visibleBands()) {
      const rows = byHost.get(band.node.host) ?? [];
      byHost.set(band.node.host, rows);
      for (const track of band.summaries) rows.push({ track, depth: 's' });
      for (let depth = 0; depth < band.depthCount; depth++) rows.push({ track: band.node.id, depth });
      if (band.node.kind === 'counter')
        this.counters.want(
          band.node.id,
          startOf(this.viewport.value) + this.shiftOf(band.node.host),
          endOf(this.viewport.value) + this.shiftOf(band.node.host),
          Math.round(this.size.value.width),
        );
    }
    const now: Want[] = [];
    const later: Want[] = [];
    for (const [host, rows] of byHost) {
      const range = wantedTiles(this.cameraOf(host));
      now.push({ rows, ...range });
      later.push({ rows, ...wantedTiles({ ...this.cameraOf(host), viewport: this.whole() }) });
      const up = 2 ** PREFETCH_LEVELS;
      later.push({
        rows,
        level: range.level + PREFETCH_LEVELS,
        from: Math.floor(range.from / up),
        to: Math.floor((range.to - 1) / up) + 1,
      });
      later.push({ rows, level: range.level, from: range.from - 1, to: range.to + 1 });
    }
    this.store.want(now, [...minimap, ...later]);
  }
}
