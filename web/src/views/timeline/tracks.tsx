/* The tracks: two canvases that stay while the names and the height below them scroll. */
import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../../data/place';
import type { Want } from '../../data/tile_store';
import { OverlayPainter, type Rect } from '../../draw/overlay';
import { TimelinePainter } from '../../draw/timeline';
import { readTokens, type Tokens } from '../../draw/tokens';
import { rowsTop } from '../../model/layout';
import { toBig } from '../../model/numbers';
import { positionOf, timeAt } from '../../model/viewport';
import { theme } from '../../ui/settings';
import { hideTip } from '../../ui/tooltip';
import type { DrawnEnd, DrawnFlow } from './flows';
import { dragTracks, Pinch, wheel } from './gestures';
import { hitAt, sliceOf } from './hit';
import { showHover } from './hover_tip';
import { sayFocus } from './say';
import type { TimelineState } from './state';

const HIT_PIXELS_MIN = 4;

interface Props {
  state: TimelineState;
  flows: readonly DrawnFlow[];
  minimapWants: () => Want[];
  scrollBy: (pixels: number) => void;
}

export function rectOf(state: TimelineState, slice: { track: string; depth: number; start_ps: number | bigint; dur_ps: number | bigint }): Rect | null {
  const band = state.layout.value.bands.find((one) => one.node.id === slice.track);
  if (!band || slice.depth >= band.depthCount) return null;
  const { width } = state.size.value;
  const start = toBig(slice.start_ps);
  const left = positionOf(state.viewport.value, start) * width;
  const right = positionOf(state.viewport.value, start + toBig(slice.dur_ps)) * width;
  const top = rowsTop(band) + slice.depth * band.rowHeight - state.scrollTop.value;
  return { left, right: Math.max(left + 1, right), top, height: band.rowHeight - (band.rowHeight === 8 ? 1 : 2) };
}

/* Outlines of hits that are wide enough for one, of those on the screen. */
function hitRects(state: TimelineState): Rect[] {
  const { width, height } = state.size.value;
  const rects = state.hits.value.map((hit) => rectOf(state, hit));
  return rects.filter((rect): rect is Rect => rect !== null && rect.right > 0 && rect.left < width && rect.top > -rect.height && rect.top < height && rect.right - rect.left >= HIT_PIXELS_MIN);
}

/* Where steps begin, and where the last one ends. */
function boundsOf(state: TimelineState): bigint[] {
  const begins = state.steps.value.map((step) => toBig(step.start_ps));
  const ends = state.steps.value.map((step) => toBig(step.start_ps) + toBig(step.dur_ps));
  const last = ends.reduce((a, b) => (a > b ? a : b), 0n);
  return begins.length === 0 ? [] : [...begins, last];
}

/* The middle of the end's row; of a closed group, its head. */
function flowPoint(state: TimelineState, end: DrawnEnd): { x: number; y: number } | null {
  const band = state.layout.value.bands.find((one) => one.node.id === end.track);
  if (!band) return null;
  const x = positionOf(state.viewport.value, end.time) * state.size.value.width;
  const row = end.depth < band.depthCount ? rowsTop(band) + (end.depth + 0.5) * band.rowHeight - 1 : band.y + 12;
  return { x, y: row - state.scrollTop.value };
}

function paintOverlay(state: TimelineState, painter: OverlayPainter, tokens: Tokens, flows: readonly DrawnFlow[]): void {
  const hovered = state.hoverSlice.value;
  const focus = state.focus.value;
  painter.paint({
    ...state.size.value,
    ratio: devicePixelRatio,
    viewport: state.viewport.value,
    tokens,
    range: state.range.value,
    focus: focus && rectOf(state, focus),
    hover: hovered && rectOf(state, hovered.slice),
    cursor: state.hover.value?.x ?? null,
    hits: hitRects(state),
    flows: flows.flatMap((flow) => {
      const from = flowPoint(state, flow.from);
      const to = flowPoint(state, flow.to);
      return from && to ? [{ from, to }] : [];
    }),
  });
}

/* A function that runs at most once a frame. */
function oncePerFrame(run: () => void): { ask: () => void; stop: () => void } {
  let frame = 0;
  return {
    ask: () => (frame ||= requestAnimationFrame(() => ((frame = 0), run()))),
    stop: () => cancelAnimationFrame(frame),
  };
}

export function Tracks({ state, flows, minimapWants, scrollBy }: Props) {
  const wrapper = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const flowsNow = useRef(flows);
  flowsNow.current = flows;

  useEffect(() => {
    const painter = new TimelinePainter(base.current!);
    let tokens = readTokens();
    let tokensOf = theme.peek();
    let timer = 0;
    const frame = oncePerFrame(() => {
      if (tokensOf !== theme.value) [tokens, tokensOf] = [readTokens(), theme.value];
      const word = state.lit.value?.toLowerCase() ?? null;
      const { names } = state.store;
      const begin = performance.now();
      const painted = painter.paint({
        ...state.size.value,
        ratio: devicePixelRatio,
        viewport: state.viewport.value,
        bands: state.visibleBands(),
        scrollTop: state.scrollTop.value,
        store: state.store,
        offsetOf: state.offsetOf,
        tokens,
        lit: word === null ? null : (name) => names.texts[name]!.toLowerCase().includes(word),
        bounds: boundsOf(state),
        counterOf: (track) => state.counters.get(track),
      });
      Object.assign(wrapper.current!.dataset, {
        rows: painted.rows,
        covered: painted.covered,
        script: (performance.now() - begin).toFixed(1),
        loading: state.store.loading,
      });
      clearTimeout(timer);
      timer = window.setTimeout(() => state.request(minimapWants()), 16);
    });
    const stop = effect(() => {
      void [state.viewport.value, state.layout.value, state.scrollTop.value, state.size.value, state.arrivals.value, theme.value, state.lit.value, state.steps.value];
      frame.ask();
    });
    return () => (stop(), frame.stop(), clearTimeout(timer));
  }, [state]);

  useEffect(() => {
    const painter = new OverlayPainter(over.current!);
    const frame = oncePerFrame(() => paintOverlay(state, painter, readTokens(), flowsNow.current));
    const stop = effect(() => {
      void [state.viewport.value, state.layout.value, state.scrollTop.value, state.size.value, state.range.value];
      void [state.focus.value, state.hover.value, state.hoverSlice.value, state.hits.value, theme.value];
      frame.ask();
    });
    return () => (stop(), frame.stop());
  }, [state, flows]);

  useEffect(() => {
    const element = wrapper.current!;
    const measure = new ResizeObserver(() => {
      state.size.value = { width: element.clientWidth, height: element.clientHeight };
    });
    measure.observe(element);
    const onWheel = (event: WheelEvent) => wheel(state, event, element.getBoundingClientRect(), false);
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => (measure.disconnect(), element.removeEventListener('wheel', onWheel));
  }, [state]);

  return (
    <div
      ref={wrapper} class="tracks-canvas" tabIndex={0} role="application" aria-roledescription="timeline" data-canvas-tip
      aria-label={`Timeline of ${state.run.name}`} aria-describedby="timeline-keys" aria-activedescendant="timeline-focus"
      {...pointerHandlers(state, scrollBy)}
    >
      <canvas ref={base} aria-hidden="true" />
      <canvas ref={over} aria-hidden="true" />
      <span id="timeline-keys" class="hidden-text">
        W and S zoom, A and D pan, arrow keys go from slice to slice, F shows the focus, M makes it the range, question mark lists all keys.
      </span>
      <span id="timeline-focus" class="hidden-text" aria-live="polite">
        {sayFocus(state)}
      </span>
    </div>
  );
}

function pointerHandlers(state: TimelineState, scrollBy: (pixels: number) => void) {
  const pinch = new Pinch();
  const click = async (x: number, y: number): Promise<void> => {
    const { hit } = hitAt(state, x, y);
    if (!hit) return go({ slice: null });
    const slice = await sliceOf(state, hit);
    if (slice) go({ slice: slice.id });
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      const element = event.currentTarget as HTMLElement;
      element.focus({ preventScroll: true });
      state.halt();
      hideTip();
      if (pinch.down(event)) {
        element.onpointermove = (move) => void pinch.move(state, move, element.getBoundingClientRect());
        return;
      }
      dragTracks(state, event, { onClick: (x, y) => void click(x, y), scrollBy });
    },
    onPointerUp: (event: PointerEvent) => pinch.up(event),
    onPointerMove: (event: PointerEvent) => {
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      state.hover.value = { x, y, time: timeAt(state.viewport.value, x / box.width) };
      if (event.buttons === 0) showHover(state, x, y, event.clientX, event.clientY);
    },
    onPointerLeave: () => {
      state.hover.value = null;
      state.hoverSlice.value = null;
      hideTip();
    },
    onDblClick: (event: MouseEvent) => {
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      const { hit } = hitAt(state, event.clientX - box.left, event.clientY - box.top);
      if (!hit) return;
      void sliceOf(state, hit).then((slice) => {
        if (!slice) return;
        const start = toBig(slice.start_ps);
        state.showSpan(`slice ${slice.id}`, { start, end: start + toBig(slice.dur_ps) });
      });
    },
  };
}
