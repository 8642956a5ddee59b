/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks: two canvases that stay while the names and the height below them scroll. */
import { effect } from '@preact/signals';
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { go } from '../../data/place';
import { LOCAL_TRACK } from '../../data/local_track';
import type { Want } from '../../data/tile_store';
import { OverlayPainter, type OverlayScene, type Rect } from '../../draw/overlay';
import { NEUTRAL } from '../../draw/row_image';
import { TimelinePainter, type TimelineScene } from '../../draw/timeline';
import { readTokens, type Tokens } from '../../draw/tokens';
import { slotsOf } from '../../model/colouring';
import { rowsTop, tracksIn } from '../../model/layout';
import { densityBars } from '../../model/search';
import { toBig } from '../../model/numbers';
import { positionOf } from '../../model/viewport';
import { theme } from '../../ui/settings';
import type { Arrow } from '../../draw/arrows';
import { followMates, type DrawnEnd, type DrawnFlow } from './flows';
import { loadSlice } from './focus';
import { oncePerFrame } from './frame';
import { otherEdge, TracksPointers, wheel } from './gestures';
import { chooseSlice, hitAt, sliceOf } from './hit';
import { followPointer } from './hover_tip';
import { canvasMenu } from './menus';
import { sayFocus } from './say';
import type { TimelineState } from './state';
import { onResize } from '../../ui/size';

const HIT_PIXELS_MIN = 4;
const TICK_PIXELS = 2;

const KEYS =
  'W and S zoom, A and D pan, arrow keys go from slice to slice, F shows the focus, M makes it the range, ' +
  'question mark lists all keys.';
const KEYS_ON_AXIS =
  'W and S zoom, A and D pan both runs, J and K go from step to step, a click leads to the slice in its run.';

interface Props {
  state: TimelineState;
  minimapWants: () => Want[];
  scrollBy: (pixels: number) => void;
}

export function rectOf(
  state: TimelineState,
  slice: { track: string; depth: number; start_ps: number | bigint; dur_ps: number | bigint },
): Rect | null {
  const band = state.layout.value.bands.find((one) => one.node.id === slice.track);
  if (!band || slice.depth >= band.depthCount) return null;
  const { width } = state.size.value;
  const start = toBig(slice.start_ps) - state.shiftOf(band.node.host);
  const left = positionOf(state.viewport.value, start) * width;
  const right = positionOf(state.viewport.value, start + toBig(slice.dur_ps)) * width;
  const top = state.screenY(band) + rowsTop(band) - band.y + slice.depth * band.rowHeight;
  return { left, right: Math.max(left + 1, right), top, height: band.rowHeight - (band.rowHeight === 8 ? 1 : 2) };
}

/* The bands outside a box, where they are on the screen. */
function veiledBands(state: TimelineState): { top: number; height: number }[] {
  const tracks = state.rangeTracks.value;
  if (tracks === null) return [];
  return state
    .visibleBands()
    .filter((band) => !tracks.includes(band.node.id))
    .map((band) => ({ top: state.screenY(band), height: band.height }));
}

/* Outlines of hits that are wide enough for one, of those on the screen. */
function hitRects(state: TimelineState): Rect[] {
  const { width, height } = state.size.value;
  const rects = state.hits.value.map((hit) => rectOf(state, hit));
  return rects.filter(
    (rect): rect is Rect =>
      rect !== null &&
      rect.right > 0 &&
      rect.left < width &&
      rect.top > -rect.height &&
      rect.top < height &&
      rect.right - rect.left >= HIT_PIXELS_MIN,
  );
}

/* Where hits begin that are too small to outline: along the foot of their band. */
function hitTicks(state: TimelineState): Rect[] {
  const density = state.density.value;
  if (!density) return [];
  const { width } = state.size.value;
  const from = positionOf(state.viewport.value, density.span.start) * width;
  const size = positionOf(state.viewport.value, density.span.end) * width - from;
  return state.visibleBands().flatMap((band) => {
    const tracks = band.depthCount > 0 ? [band.node.id] : band.summaries.length > 0 ? tracksIn(band.node) : [];
    const bottom = state.screenY(band) + band.height;
    return tracks.flatMap((track) =>
      densityBars(density.tracks.get(track) ?? []).map(({ at, share }) => ({
        left: from + at * size,
        right: from + at * size + TICK_PIXELS,
        top: bottom - 3 - Math.round(share * 3),
        height: 3 + Math.round(share * 3),
      })),
    );
  });
}

/* Where steps begin, and where the last one ends. */
function boundsOf(state: TimelineState): bigint[] {
  const begins = state.steps.value.map((step) => toBig(step.start_ps) - state.shiftOf(step.host ?? ''));
  const ends = state.steps.value.map((step, index) => begins[index]! + toBig(step.dur_ps));
  const last = ends.reduce((a, b) => (a > b ? a : b), 0n);
  return begins.length === 0 ? [] : [...begins, last];
}

/* The middle of the end's row; of a closed group, its head. */
function flowPoint(state: TimelineState, end: DrawnEnd): { x: number; y: number } | null {
  const band = state.layout.value.bands.find((one) => one.node.id === end.track);
  if (!band) return null;
  const x = positionOf(state.viewport.value, end.time - state.shiftOf(band.node.host)) * state.size.value.width;
  const row = end.depth < band.depthCount ? rowsTop(band) - band.y + (end.depth + 0.5) * band.rowHeight - 1 : 12;
  return { x, y: state.screenY(band) + row };
}

function arrowsOf(state: TimelineState): Arrow[] {
  const drawn = (flows: readonly DrawnFlow[], faint: boolean): Arrow[] =>
    flows.flatMap((flow) => {
      const from = flowPoint(state, flow.from);
      const to = flowPoint(state, flow.to);
      return from && to ? [{ from, to, faint }] : [];
    });
  return [...drawn(state.mates.value.flows, true), ...drawn(state.flows.value, false)];
}

/* What the base canvas shows now. */
export function sceneOf(state: TimelineState, tokens: Tokens): TimelineScene {
  const lit = state.lit.value;
  const { names } = state.store;
  return {
    ...state.size.value,
    ratio: devicePixelRatio,
    viewport: state.viewport.value,
    bands: state.visibleBands(),
    scrollTop: state.scrollTop.value,
    stuck: state.stuck.value,
    store: state.store,
    offsetOf: state.offsetOf,
    shiftOf: state.shiftOf,
    tokens,
    lit:
      lit === null
        ? null
        : (name) => (lit.exact ? names.texts[name] === lit.text : names.texts[name]!.toLowerCase().includes(lit.text)),
    bounds: boundsOf(state),
    slotOf: slotsOf(state.colouring.value, names, state.levels.value, NEUTRAL, state.families.value),
    unrecorded: state.unrecordedOf,
    counterOf: (track) => state.counters.get(track),
    arrows: arrowsOf(state),
  };
}

/* What lies over it. */
export function overlayOf(state: TimelineState, tokens: Tokens): OverlayScene {
  const hovered = state.hoverSlice.value;
  const focus = state.focus.value;
  return {
    ...state.size.value,
    ratio: devicePixelRatio,
    viewport: state.viewport.value,
    tokens,
    range: state.range.value,
    veiled: veiledBands(state),
    marks: state.marks.value,
    focus: focus && rectOf(state, focus),
    hover: hovered && rectOf(state, hovered.slice),
    cursor: state.hover.value?.x ?? null,
    hits: hitRects(state),
    ticks: hitTicks(state),
    mates: state.mates.value.slices.flatMap((mate) => rectOf(state, mate) ?? []),
    links: (state.chain.value?.rows ?? []).flatMap((link) => rectOf(state, link) ?? []),
  };
}

export function Tracks({ state, minimapWants, scrollBy }: Props) {
  const wrapper = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const own = useId();
  const id = state.axis ? own : 'timeline';

  useLayoutEffect(() => {
    const painter = new TimelinePainter(base.current!);
    const element = wrapper.current!; // a frame may come after the view has gone
    let tokens = readTokens();
    let tokensOf = theme.peek();
    let timer = 0;
    let asked = false;
    const frame = oncePerFrame(() => {
      if (tokensOf !== theme.value) [tokens, tokensOf] = [readTokens(), theme.value];
      const begin = performance.now();
      const painted = painter.paint(sceneOf(state, tokens));
      Object.assign(element.dataset, {
        rows: painted.rows,
        covered: painted.covered,
        script: (performance.now() - begin).toFixed(1),
        loading: state.store.loading,
      });
      if (painted.covered > 0 || (painted.rows === 0 && state.size.value.height > 0)) state.painted.value = true;
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        state.request(minimapWants());
        state.tellColours(painted);
      }, 16);
    });
    const stop = effect(() => {
      void [
        state.viewport.value,
        state.layout.value,
        state.scrollTop.value,
        state.size.value,
        state.arrivals.value,
        theme.value,
        state.lit.value,
        state.steps.value,
        state.shifts.value,
        state.axis?.zero.value,
        state.colouring.value,
        state.levels.value,
        state.families.value,
        state.flows.value,
        state.mates.value,
      ];
      if (state.colouring.value === 'self') void state.weighNames();
      frame.ask();
      if (asked || state.size.value.width === 0) return;
      asked = true; // the first tiles wait for no frame
      queueMicrotask(() => state.request(minimapWants()));
    });
    return () => (stop(), frame.stop(), clearTimeout(timer));
  }, [state]);

  useEffect(() => {
    const painter = new OverlayPainter(over.current!);
    const element = wrapper.current!;
    const frame = oncePerFrame(() => {
      painter.paint(overlayOf(state, readTokens()));
      element.dataset.mates = String(state.mates.value.slices.length);
    });
    const stop = effect(() => {
      void [
        state.viewport.value,
        state.layout.value,
        state.scrollTop.value,
        state.size.value,
        state.range.value,
        state.rangeTracks.value,
        state.marks.value,
      ];
      void [
        state.focus.value,
        state.hover.value,
        state.hoverSlice.value,
        state.mates.value,
        state.hits.value,
        state.density.value,
        state.chain.value,
        state.axis?.zero.value,
        theme.value,
      ];
      frame.ask();
    });
    return () => (stop(), frame.stop());
  }, [state]);

  useEffect(() => followPointer(state), [state]);
  useEffect(() => followMates(state), [state]);

  useLayoutEffect(() => {
    const element = wrapper.current!;
    const take = () => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width !== state.size.peek().width || height !== state.size.peek().height)
        state.size.value = { width, height };
    };
    take();
    const end = onResize(element, take);
    const onWheel = (event: WheelEvent) => wheel(state, event, element.getBoundingClientRect(), false);
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => (end(), element.removeEventListener('wheel', onWheel));
  }, [state]);

  const scroll = useRef(scrollBy);
  scroll.current = scrollBy;
  const handlers = useMemo(() => pointerHandlers(state, (pixels) => scroll.current(pixels)), [state]);
  return (
    <div
      ref={wrapper}
      class="tracks-canvas"
      tabIndex={0}
      role="application"
      aria-roledescription="timeline"
      data-canvas-tip
      aria-label={`Timeline of ${state.run.name}`}
      aria-describedby={`${id}-keys`}
      aria-activedescendant={`${id}-focus`}
      {...handlers}
    >
      <canvas ref={base} aria-hidden="true" />
      <canvas ref={over} aria-hidden="true" />
      <span id={`${id}-keys`} class="hidden-text">
        {state.axis ? KEYS_ON_AXIS : KEYS}
      </span>
      <span id={`${id}-focus`} class="hidden-text" aria-live="polite">
        {sayFocus(state)}
      </span>
    </div>
  );
}

function pointerHandlers(state: TimelineState, scrollBy: (pixels: number) => void) {
  const click = async (x: number, y: number): Promise<void> => {
    const { hit } = hitAt(state, x, y);
    if (!hit) return state.axis ? undefined : go({ slice: null, piece: null });
    const slice = await sliceOf(state, hit);
    if (slice && state.axis) state.axis.onSlice(slice);
    else if (slice) chooseSlice(slice);
  };
  const menu = (x: number, y: number, clientX: number, clientY: number) =>
    !state.axis && canvasMenu(state, x, y, clientX, clientY);
  const pointers = new TracksPointers(state, { onClick: (x, y) => void click(x, y), onMenu: menu, scrollBy });
  /* What a click would show is asked for while the button is down. */
  const press = (event: PointerEvent): void => {
    const { x, y } = inside(event);
    const { hit } = hitAt(state, x, y);
    if (hit && !state.axis)
      sliceOf(state, hit)
        .then((slice) => (slice?.id ? loadSlice(state, slice.id) : undefined))
        .catch(() => undefined);
  };
  const inside = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width };
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      (event.currentTarget as HTMLElement).focus({ preventScroll: true });
      state.halt();
      state.under.value = null;
      pointers.down(event);
      if (event.button === 0 && event.pointerType === 'mouse' && !event.shiftKey) press(event);
    },
    onPointerUp: (event: PointerEvent) => pointers.up(event),
    onPointerCancel: (event: PointerEvent) => pointers.up(event),
    onPointerMove: (event: PointerEvent) => {
      pointers.move(event);
      if (event.pointerType === 'touch') return;
      const { x, y, width } = inside(event);
      state.hover.value = { x, y };
      (event.currentTarget as HTMLElement).classList.toggle('at-edge', otherEdge(state, x, width) !== null);
      state.under.value = event.buttons === 0 ? { x, y, clientX: event.clientX, clientY: event.clientY } : null;
    },
    onPointerLeave: () => {
      state.hover.value = null;
      state.under.value = null;
    },
    onContextMenu: (event: MouseEvent) => {
      event.preventDefault();
      if (pointers.active) return;
      const { x, y } = inside(event);
      menu(x, y, event.clientX, event.clientY);
    },
    onDblClick: (event: MouseEvent) => {
      const { x, y } = inside(event);
      const { hit } = hitAt(state, x, y);
      if (!hit || state.axis) return;
      void sliceOf(state, hit).then((slice) => {
        if (!slice) return;
        const start = toBig(slice.start_ps);
        chooseSlice(slice);
        if (slice.track !== LOCAL_TRACK) state.listTrack(slice);
        state.showSpan(`slice ${slice.id || start}`, { start, end: start + toBig(slice.dur_ps) });
      });
    },
  };
}
