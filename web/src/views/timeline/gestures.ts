/* Pointer and wheel in the tracks, on the ruler and on the minimap. */
import { go } from '../../data/place';
import { timeAt } from '../../model/viewport';
import type { TimelineState } from './state';

const WHEEL_ZOOM = 0.0018;
const DRAG_PIXELS_MIN = 4;
const KINETIC_MS = 400;
const LONG_PRESS_MS = 450;

function pixels(event: WheelEvent, size: number): { x: number; y: number } {
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? size : 1;
  return { x: event.deltaX * unit, y: event.deltaY * unit };
}

/* In the tracks a wheel scrolls; with ctrl, and everywhere on ruler and minimap, it zooms. */
export function wheel(state: TimelineState, event: WheelEvent, box: DOMRect, alwaysZoom: boolean): void {
  const by = pixels(event, box.width);
  const sideways = event.shiftKey ? by.x || by.y : Math.abs(by.x) > Math.abs(by.y) ? by.x : 0;
  if (event.ctrlKey || event.metaKey || (alwaysZoom && sideways === 0)) {
    event.preventDefault();
    state.zoom(Math.exp(by.y * WHEEL_ZOOM * (event.ctrlKey && Math.abs(by.y) < 20 ? 5 : 1)), (event.clientX - box.left) / box.width);
  } else if (sideways !== 0) {
    event.preventDefault();
    state.pan(sideways / box.width);
  }
}

export interface DragTarget {
  onClick: (x: number, y: number, event: PointerEvent) => void;
  scrollBy: (pixels: number) => void;
}

interface Move {
  x: number;
  time: number;
}

/* Runs on with the last speed, slower and slower, and ends within KINETIC_MS or at any input. */
function runOn(state: TimelineState, moves: readonly Move[], width: number): void {
  const last = moves.at(-1)!;
  const early = moves.find((move) => last.time - move.time < 80) ?? last;
  const speed = last.time > early.time ? (last.x - early.x) / (last.time - early.time) : 0;
  if (Math.abs(speed) < 0.2 || performance.now() - last.time > 50 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const begin = performance.now();
  let before = begin;
  let stopped = false;
  const stop = () => (stopped = true);
  for (const type of ['pointerdown', 'wheel', 'keydown'] as const) addEventListener(type, stop, { once: true, capture: true });
  const step = (now: number): void => {
    const left = 1 - (now - begin) / KINETIC_MS;
    if (left <= 0 || stopped) return;
    state.pan((-speed * left * left * (now - before)) / width);
    before = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/* Drag pans (and scrolls), shift + drag or a long press makes a range, a click is a click. */
export function dragTracks(state: TimelineState, event: PointerEvent, target: DragTarget): void {
  if (event.button > 1) return;
  const element = event.currentTarget as HTMLElement;
  const box = element.getBoundingClientRect();
  const begin = { x: event.clientX, y: event.clientY };
  let mode: 'none' | 'pan' | 'range' = event.shiftKey ? 'range' : 'none';
  let last = { ...begin };
  const moves: Move[] = [];
  const press = event.pointerType === 'touch' ? window.setTimeout(() => mode === 'none' && (mode = 'range'), LONG_PRESS_MS) : 0;
  element.setPointerCapture(event.pointerId);

  element.onpointermove = (move) => {
    if (mode === 'none' && Math.hypot(move.clientX - begin.x, move.clientY - begin.y) >= DRAG_PIXELS_MIN) mode = 'pan';
    if (mode === 'pan') {
      state.pan((last.x - move.clientX) / box.width);
      target.scrollBy(last.y - move.clientY);
      moves.push({ x: move.clientX, time: performance.now() });
    } else if (mode === 'range') draftRange(state, begin.x - box.left, move.clientX - box.left, box.width);
    last = { x: move.clientX, y: move.clientY };
  };
  const end = (up: PointerEvent): void => {
    clearTimeout(press);
    element.onpointermove = element.onpointerup = element.onpointercancel = null;
    if (up.type === 'pointercancel') state.draft.value = null;
    else if (mode === 'range') commitRange(state);
    else if (mode === 'pan' && moves.length > 1) runOn(state, moves, box.width);
    else if (mode === 'none') target.onClick(up.clientX - box.left, up.clientY - box.top, up);
  };
  element.onpointerup = end;
  element.onpointercancel = end;
}

export function draftRange(state: TimelineState, from: number, to: number, width: number): void {
  const [left, right] = from < to ? [from, to] : [to, from];
  const start = timeAt(state.viewport.value, left / width);
  const end = timeAt(state.viewport.value, right / width);
  state.draft.value = { start: start < state.start ? state.start : start, end: end > state.end ? state.end : end };
}

export function commitRange(state: TimelineState): void {
  const draft = state.draft.value;
  state.draft.value = null;
  if (draft && draft.end > draft.start) go({ start_ps: String(draft.start), end_ps: String(draft.end) });
}

/* On the ruler a drag makes a range; near an edge of the range it moves that edge. */
export function dragRuler(state: TimelineState, event: PointerEvent): void {
  if (event.button !== 0) return;
  const element = event.currentTarget as HTMLElement;
  const box = element.getBoundingClientRect();
  const at = event.clientX - box.left;
  const fixed = otherEdge(state, at, box.width) ?? at;
  element.setPointerCapture(event.pointerId);
  element.onpointermove = (move) => {
    if (fixed === at && Math.abs(move.clientX - event.clientX) < DRAG_PIXELS_MIN && !state.draft.value) return;
    draftRange(state, fixed, move.clientX - box.left, box.width);
  };
  element.onpointerup = element.onpointercancel = () => {
    element.onpointermove = element.onpointerup = element.onpointercancel = null;
    if (state.draft.value) commitRange(state);
    else go({ start_ps: null, end_ps: null });
  };
}

function otherEdge(state: TimelineState, at: number, width: number): number | null {
  const range = state.range.value;
  if (!range) return null;
  const viewport = state.viewport.value;
  const pixel = (time: bigint) => ((Number(time - viewport.base) - viewport.offset) / viewport.span) * width;
  const [from, to] = [pixel(range.start), pixel(range.end)];
  if (Math.abs(at - from) <= 4) return to;
  return Math.abs(at - to) <= 4 ? from : null;
}

/* Two fingers: the times below them stay below them. */
export class Pinch {
  private readonly fingers = new Map<number, number>();

  down(event: PointerEvent): boolean {
    if (event.pointerType === 'touch') this.fingers.set(event.pointerId, event.clientX);
    return this.fingers.size >= 2;
  }

  move(state: TimelineState, event: PointerEvent, box: DOMRect): boolean {
    if (!this.fingers.has(event.pointerId)) return false;
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event.clientX);
    const after = [...this.fingers.values()];
    if (after.length !== 2) return false;
    const [apartBefore, apart] = [Math.abs(before[0]! - before[1]!), Math.abs(after[0]! - after[1]!)];
    const middle = (after[0]! + after[1]!) / 2;
    const shift = middle - (before[0]! + before[1]!) / 2;
    state.pan(-shift / box.width);
    if (apart > 8 && apartBefore > 8) state.zoom(apartBefore / apart, (middle - box.left) / box.width);
    return true;
  }

  up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
  }
}
