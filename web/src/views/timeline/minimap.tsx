/* SPDX-License-Identifier: Apache-2.0 */
/* The whole run by kind in 40 pixels, and where the window stands in it. */
import { effect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { LOCAL_TRACK } from '../../data/local_track';
import type { Want } from '../../data/tile_store';
import { summaryOf, wantedTiles, type PlacedSummary } from '../../draw/scene';
import { paintSummary } from '../../draw/summary';
import { readTokens } from '../../draw/tokens';
import { timeOf } from '../../model/layout';
import { densityBars } from '../../model/search';
import { positionOf, timeAt, viewportOf, type Viewport } from '../../model/viewport';
import { theme } from '../../ui/settings';
import { oncePerFrame } from './frame';
import { wheel } from './gestures';
import type { TimelineState } from './state';

const BUSY_MIN = 0.005; // of the run: what devices do less is no picture of it

/* Devices where any works, else everything: idle hosts would only dilute the picture. */
function rootsOf(state: TimelineState): { host: string; track: string }[] {
  const all = state.roots
    .filter((node) => node.id !== LOCAL_TRACK)
    .flatMap((node) => (node.track ? [node] : node.children));
  const whole = Number(state.end - state.start);
  const devices = all.filter((node) => node.kind === 'device' && timeOf(node) > BUSY_MIN * whole);
  return (devices.length > 0 ? devices : all)
    .filter((node) => node.track && node.kind !== 'counter')
    .map((node) => ({ host: node.host, track: node.id }));
}

function cameraOf(state: TimelineState, host: string, width: number) {
  return { viewport: viewportOf(state.start, state.end), pixels: width, offset: state.offsetOf(host) };
}

export function minimapWants(state: TimelineState): Want[] {
  const width = Math.round(state.size.value.width * devicePixelRatio);
  const byHost = new Map<string, Want>();
  for (const { host, track } of rootsOf(state)) {
    const want = byHost.get(host) ?? { rows: [], ...wantedTiles(cameraOf(state, host, width)) };
    want.rows.push({ track, depth: 's' });
    byHost.set(host, want);
  }
  return [...byHost.values()];
}

function moveTo(state: TimelineState, position: number): void {
  const now = state.viewport.value;
  const whole = viewportOf(state.start, state.end);
  const next: Viewport = { base: timeAt(whole, position), offset: -now.span / 2, span: now.span };
  state.halt();
  state.set(next);
}

function paint(
  state: TimelineState,
  element: HTMLCanvasElement,
  width: number,
  summaries: readonly PlacedSummary[][],
): void {
  const height = Math.round(32 * devicePixelRatio);
  element.width = width;
  element.height = height;
  const context = element.getContext('2d')!;
  const tokens = readTokens();
  paintSummary(context, summaries, { top: 0, width, height }, tokens);
  context.fillStyle = tokens.accent;
  const unit = Math.max(2, Math.round(2 * devicePixelRatio));
  for (const { at, share } of densityBars(state.density.value?.run ?? [])) {
    const size = Math.round((3 + 5 * share) * devicePixelRatio);
    context.fillRect(Math.round(at * width), height - size, unit, size);
  }
}

const WINDOW_PIXELS_MIN = 8;
const percent = (part: number): string => `${(100 * Math.min(1, Math.max(0, part))).toFixed(4)}%`;

export function Minimap({ state }: { state: TimelineState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  // At once when the view goes: a frame that comes after it would find no canvas.
  useLayoutEffect(() => {
    let shown: readonly unknown[] = [];
    const frame = oncePerFrame(() => {
      const width = Math.round(state.size.value.width * devicePixelRatio);
      if (width === 0) return;
      const summaries = rootsOf(state).map(({ host, track }) =>
        summaryOf(state.store, track, cameraOf(state, host, width)),
      );
      const now = [
        width,
        theme.value,
        state.density.value?.run,
        state.shifts.value,
        ...summaries.flatMap((placed) => placed.map((one) => one.share)),
      ];
      if (now.length === shown.length && now.every((one, at) => one === shown[at])) return; // other tiles came
      shown = now;
      paint(state, canvas.current!, width, summaries);
    });
    const stop = effect(() => {
      void [state.arrivals.value, state.size.value, theme.value, state.density.value, state.shifts.value];
      if (state.painted.value) frame.ask(); // the tracks come first
    });
    return () => (stop(), frame.stop());
  }, [state]);

  const whole = viewportOf(state.start, state.end);
  const now = state.viewport.value;
  const left = Math.max(0, positionOf(whole, timeAt(now, 0)));
  const right = Math.min(1, positionOf(whole, timeAt(now, 1)));
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };
  return (
    <div
      class="minimap"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        moveTo(state, at(event));
      }}
      onPointerMove={(event) => event.buttons === 1 && moveTo(state, at(event))}
      onWheel={(event) => wheel(state, event, event.currentTarget.getBoundingClientRect(), true)}
    >
      <canvas ref={canvas} />
      <div class="minimap-veil" style={{ left: 0, width: percent(left) }} />
      <div class="minimap-veil" style={{ left: percent(right), right: 0 }} />
      <div
        class="minimap-window"
        style={{
          left: `clamp(0px, ${percent(left)}, calc(100% - ${WINDOW_PIXELS_MIN}px))`,
          width: percent(right - left),
        }}
      />
    </div>
  );
}
