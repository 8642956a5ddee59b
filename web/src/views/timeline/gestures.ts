/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer and wheel in the tracks, on the ruler and on the minimap.
 *
 *   drag             pans, and runs on               shift + drag, long press + drag   a box: range × tracks
 *                    (by the setting the reverse of shift; the middle button pans)
 *   two fingers      zoom and pan                    near an edge of the range         moves that edge
 *   long press       the menu                        on the range's bar (ruler)        moves the range
 *
 * Of two runs on one axis there are only panning, zooming and the click; alt + drag moves one of them.
 */
import { go } from '../../data/place';
import { LOCAL_TRACK } from '../../data/local_track';
import { bandsBetween, type Band } from '../../model/layout';
import { positionOf, timeAt } from '../../model/viewport';
import { settings } from '../../ui/settings';
import { edgeNear, type Edge } from './snap';
import type { TimelineState } from './state';

const WHEEL_ZOOM = 0.0018;
const DRAG_PIXELS_MIN = 4;
const EDGE_PIXELS = 4;
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
    state.zoom(
      Math.exp(by.y * WHEEL_ZOOM * (event.ctrlKey && Math.abs(by.y) < 20 ? 5 : 1)),
      (event.clientX - box.left) / box.width,
    );
  } else if (sideways !== 0) {
    event.preventDefault();
    state.pan(sideways / box.width);
  }
}

export interface DragTarget {
  onClick: (x: number, y: number) => void;
  onMenu: (x: number, y: number, clientX: number, clientY: number) => void;
  scrollBy: (pixels: number) => void;
}

interface Move {
  x: number;
  time: number;
}

/* Runs on with the last speed, slower and slower, and ends within KINETIC_MS or at any input. A hand
 * that rested before it let go throws nothing: by the times of the events, not of their handling. */
function runOn(state: TimelineState, moves: readonly Move[], released: number, width: number): void {
  const last = moves.at(-1)!;
  const early = moves.find((move) => last.time - move.time < 80) ?? last;
  const speed = last.time > early.time ? (last.x - early.x) / (last.time - early.time) : 0;
  if (Math.abs(speed) < 0.2 || released - last.time > 50 || matchMedia('(prefers-reduced-motion: reduce)').matches)
    return;
  const begin = performance.now();
  let before = begin;
  let stopped = false;
  const stop = () => (stopped = true);
  for (const type of ['pointerdown', 'wheel', 'keydown'] as const)
    addEventListener(type, stop, { once: true, capture: true });
  const step = (now: number): void => {
    const left = 1 - (now - begin) / KINETIC_MS;
    if (left <= 0 || stopped) return;
    state.pan((-speed * left * left * (now - before)) / width);
    before = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

type Mode = 'none' | 'pan' | 'box' | 'edge' | 'pressed' | 'over' | 'move';

/* One drag in the tracks; it ends with the pointer, or when a second finger comes. */
class TracksDrag {
  private mode: Mode;
  private last: { x: number; y: number };
  private readonly moves: Move[] = [];
  private readonly box: DOMRect;
  private readonly press: number;
  private readonly from: Edge | null = null;
  private readonly selects: boolean;
  private drafted = false;
  private to: Edge | null = null;
  private fixed: bigint | null = null; // the other edge of the range

  constructor(
    private readonly state: TimelineState,
    private readonly begin: PointerEvent,
    private readonly target: DragTarget,
  ) {
    this.box = (begin.currentTarget as HTMLElement).getBoundingClientRect();
    this.last = { x: begin.clientX, y: begin.clientY };
    const x = begin.clientX - this.box.left;
    this.fixed = begin.pointerType === 'touch' ? null : otherEdge(state, x, this.box.width);
    this.selects =
      !state.axis &&
      begin.button === 0 &&
      begin.shiftKey !== (settings.value.gestures === 'select' && begin.pointerType !== 'touch');
    this.mode = this.fixed !== null ? 'edge' : 'none';
    if (this.selects) this.from = edgeNear(state, x, begin.clientY - this.box.top);
    this.press =
      begin.pointerType === 'touch' && !state.axis
        ? window.setTimeout(() => this.mode === 'none' && (this.mode = 'pressed'), LONG_PRESS_MS)
        : 0;
  }

  move(event: PointerEvent): void {
    const far = Math.hypot(event.clientX - this.begin.clientX, event.clientY - this.begin.clientY) >= DRAG_PIXELS_MIN;
    if (this.drafted && this.state.draft.value === null) this.mode = 'over'; // let go by Esc
    if (this.mode === 'none' && far)
      this.mode = this.state.axis && this.begin.altKey ? 'move' : this.selects ? 'box' : 'pan';
    if (this.mode === 'pressed' && far) this.mode = 'box';
    if (this.mode === 'move') {
      const share = (event.clientX - this.last.x) / this.box.width;
      this.state.axis!.moveBy(BigInt(Math.round(share * this.state.viewport.value.span)));
    } else if (this.mode === 'pan') {
      this.state.pan((this.last.x - event.clientX) / this.box.width);
      this.target.scrollBy(this.last.y - event.clientY);
      this.moves.push({ x: event.clientX, time: event.timeStamp });
    } else if (this.mode === 'box') this.dragBox(event);
    else if (this.mode === 'edge') {
      this.to = event.shiftKey ? edgeNear(this.state, event.clientX - this.box.left, null) : null;
      draft(
        this.state,
        this.fixed!,
        this.to?.time ?? timeAt(this.state.viewport.value, (event.clientX - this.box.left) / this.box.width),
      );
    }
    this.drafted ||= this.state.draft.value !== null;
    this.last = { x: event.clientX, y: event.clientY };
  }

  private dragBox(event: PointerEvent): void {
    const { state, box, begin } = this;
    const x = event.clientX - box.left;
    this.to = edgeNear(state, x, event.clientY - box.top);
    const time = (edge: Edge | null, clientX: number) =>
      edge?.time ?? timeAt(state.viewport.value, (clientX - box.left) / box.width);
    draft(state, time(this.from, begin.clientX), time(this.to, event.clientX));
    const [top, bottom] = [Math.min(begin.clientY, event.clientY), Math.max(begin.clientY, event.clientY)].map((y) =>
      state.layoutY(y - box.top),
    );
    const bands = bandsBetween(state.layout.value, top!, bottom! + 1);
    state.draftTracks.value = tracksOfBands(bands);
  }

  end(cancelled: boolean, time: number): void {
    clearTimeout(this.press);
    const { state, mode, begin, box } = this;
    if (cancelled) state.dropDraft();
    else if (mode === 'box' || mode === 'edge') void commitDraft(state, [mode === 'box' ? this.from : null, this.to]);
    else if (mode === 'pressed')
      this.target.onMenu(begin.clientX - box.left, begin.clientY - box.top, begin.clientX, begin.clientY);
    else if (mode === 'pan' && this.moves.length > 1) runOn(state, this.moves, time, box.width);
    else if (mode === 'none' && begin.button === 0) this.target.onClick(this.last.x - box.left, this.last.y - box.top);
  }
}

/* All pointers in the tracks: one drags, two pinch. */
export class TracksPointers {
  private readonly fingers = new Map<number, number>();
  private drag: TracksDrag | null = null;

  constructor(
    private readonly state: TimelineState,
    private readonly target: DragTarget,
  ) {}

  get active(): boolean {
    return this.drag !== null || this.fingers.size > 0;
  }

  down(event: PointerEvent): void {
    if (event.button > 1) return;
    this.fingers.set(event.pointerId, event.clientX);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    if (this.fingers.size === 1) this.drag = new TracksDrag(this.state, event, this.target);
    else {
      this.drag?.end(true, event.timeStamp);
      this.drag = null;
    }
  }

  move(event: PointerEvent): void {
    if (!this.fingers.has(event.pointerId)) return;
    if (this.fingers.size >= 2) this.pinch(event);
    else {
      this.fingers.set(event.pointerId, event.clientX);
      this.drag?.move(event);
    }
  }

  /* The times below two fingers stay below them. */
  private pinch(event: PointerEvent): void {
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event.clientX);
    const after = [...this.fingers.values()];
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [apartBefore, apart] = [Math.abs(before[0]! - before[1]!), Math.abs(after[0]! - after[1]!)];
    const middle = (after[0]! + after[1]!) / 2;
    this.state.pan(((before[0]! + before[1]!) / 2 - middle) / box.width);
    if (apart > 8 && apartBefore > 8) this.state.zoom(apartBefore / apart, (middle - box.left) / box.width);
  }

  up(event: PointerEvent): void {
    if (!this.fingers.delete(event.pointerId)) return;
    this.drag?.end(event.type === 'pointercancel', event.timeStamp);
    this.drag = null;
  }
}

/* Of an open group its rows are chosen, not all below its head; of a closed one all that is in it. */
export function tracksOfBands(bands: readonly Band[]): string[] | null {
  const chosen = bands.filter(({ open, node, depthCount }) => !open || node.children.length === 0 || depthCount > 0);
  const tracks = chosen.flatMap(({ node }) => (node.track ? [node.id] : node.children.map((child) => child.id)));
  const known = tracks.filter((track) => track !== LOCAL_TRACK); // of the server's
  return known.length === 0 ? null : known;
}

function draft(state: TimelineState, a: bigint, b: bigint): void {
  const [start, end] = a < b ? [a, b] : [b, a];
  state.draft.value = { start: start < state.start ? state.start : start, end: end > state.end ? state.end : end };
}

/* What was snapped to gets its exact time; a box keeps its tracks. */
async function commitDraft(state: TimelineState, edges: readonly (Edge | null)[]): Promise<void> {
  const span = state.draft.value;
  const tracks = state.draftTracks.value;
  if (!span || span.end <= span.start) return state.dropDraft();
  const exact = { ...span };
  for (const edge of edges) {
    if (!edge) continue;
    if (edge.time === span.start) exact.start = await edge.exact();
    if (edge.time === span.end) exact.end = await edge.exact();
  }
  state.dropDraft();
  if (exact.end <= exact.start) return;
  go({
    start_ps: String(exact.start),
    end_ps: String(exact.end),
    ...(tracks === null ? {} : { track: tracks.join(',') }),
  });
}

/* On the ruler a drag makes a range, or moves what it takes hold of: an edge, the bar. */
export function dragRuler(state: TimelineState, event: PointerEvent): void {
  if (event.button !== 0 || state.axis) return;
  const element = event.currentTarget as HTMLElement;
  const box = element.getBoundingClientRect();
  const at = event.clientX - box.left;
  const time = (x: number) => timeAt(state.viewport.value, x / box.width);
  const snapped = (x: number, shift: boolean): Edge | null => (shift ? edgeNear(state, x, null) : null);
  const before = state.range.value;
  const hold = otherEdge(state, at, box.width);
  const moves = hold === null && before !== null && time(at) > before.start && time(at) < before.end;
  const from = hold === null && !moves ? snapped(at, event.shiftKey) : null;
  let to: Edge | null = null;
  let drafted = false;
  element.setPointerCapture(event.pointerId);
  element.onpointermove = (move) => {
    if (drafted && state.draft.value === null) return; // let go by Esc
    drafted = true;
    const x = move.clientX - box.left;
    if (Math.abs(move.clientX - event.clientX) < DRAG_PIXELS_MIN && !state.draft.value) return;
    if (moves) {
      const by = time(x) - time(at);
      state.draft.value = { start: before.start + by, end: before.end + by };
      return;
    }
    to = snapped(x, move.shiftKey);
    draft(state, hold ?? from?.time ?? time(at), to?.time ?? time(x));
  };
  element.onpointerup = element.onpointercancel = (up) => {
    element.onpointermove = element.onpointerup = element.onpointercancel = null;
    if (up.type === 'pointercancel' || (drafted && state.draft.value === null)) state.dropDraft();
    else if (state.draft.value) void commitDraft(state, [from, to]);
    else go({ start_ps: null, end_ps: null });
  };
}

/* Near an edge of the range: the time of the other one. */
export function otherEdge(state: TimelineState, at: number, width: number): bigint | null {
  const range = state.range.value;
  if (!range) return null;
  const pixel = (time: bigint) => positionOf(state.viewport.value, time) * width;
  if (Math.abs(at - pixel(range.start)) <= EDGE_PIXELS) return range.end;
  return Math.abs(at - pixel(range.end)) <= EDGE_PIXELS ? range.start : null;
}
