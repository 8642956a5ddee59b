/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of the step in sight, as a row above the tracks: what ran and what was waited for,
 * from its begin to its end. A click chooses a piece, [ and ] go to the one before and after. */
import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { PathPiece, PathReply } from '../../data/critical';
import { go, query } from '../../data/place';
import { loadJson, useJson } from '../../data/resource';
import { KINDS, type Slice, type SliceDetails } from '../../data/types';
import { Labels } from '../../draw/label';
import { readTokens, type Tokens } from '../../draw/tokens';
import { shown } from '../../model/cut';
import { count, share, time, timeExact, toBig, toNumber } from '../../model/numbers';
import {
  becauseOf,
  formatPiece,
  isGap,
  PIECE_WORDS,
  pieceAt,
  pieceIndexAt,
  pieceOfSlice,
  pieceWords,
  readyAt,
  stepAt,
} from '../../model/critical/path';
import { endOf, positionOf, startOf, timeAt, viewportOf } from '../../model/viewport';
import { Canvas } from '../../ui/canvas';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';
import { hideTip, showTip } from '../../ui/tooltip';
import type { DrawnFlow } from './flows';
import { loadSlice } from './focus';
import type { TimelineState } from './state';

const HEIGHT = 20;
const PIECES_MAX = 10_000;
const REST_MS = 150;
const LABEL_PIXELS_MIN = 36;
/* A run without steps is one: of more slices its path is not asked for unless it is wanted. */
const WHOLE_SLICES_MAX = 300_000;

export const isPathShown = (state: TimelineState): boolean =>
  query.value.path !== 'off' &&
  (query.value.path === 'on' || state.steps.value.length > 0 || (state.run.slice_count ?? 0) <= WHOLE_SLICES_MAX);

/* Of the piece in the address the step, else of the window's middle. */
function stepOf(state: TimelineState): string | null {
  const pinned = pieceAt(query.value.piece);
  if (pinned) return pinned.step;
  if (state.steps.value.length === 0) return state.stepsKnown.value ? '' : null;
  const step = stepAt(state.steps.value, timeAt(state.viewport.value, 0.5));
  return step === null ? '' : String(step.step);
}

/* Asked for when the window has come to rest at another step. */
export function followPath(state: TimelineState): () => void {
  let abort = new AbortController();
  let timer = 0;
  let asked: string | null = null;
  const load = (step: string): void => {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    loadJson<PathReply>('api/critical', { run: state.run.id, step, limit: PIECES_MAX }, signal)
      .then((reply) => signal.aborted || (state.path.value = reply))
      .catch(() => signal.aborted || (state.path.value = null));
  };
  const stop = effect(() => {
    if (!isPathShown(state)) {
      asked = null;
      state.path.value = null;
      return;
    }
    const step = stepOf(state);
    if (step === null || step === asked) return;
    clearTimeout(timer);
    const ask = (): void => {
      asked = step;
      load(step);
    };
    if (asked === null) ask();
    else timer = window.setTimeout(ask, REST_MS);
  });
  return () => (stop(), clearTimeout(timer), abort.abort());
}

/* The piece of the address, else of the slice in focus. */
export function pieceInFocus(state: TimelineState): number {
  const path = state.path.value;
  if (path === null) return -1;
  const at = pieceAt(query.value.piece);
  const slice = query.value.slice ?? null;
  if (at && at.step === String(path.step.step ?? '') && path.pieces[at.index]?.slice === slice) return at.index;
  return pieceOfSlice(path.pieces, slice);
}

export function goToPiece(state: TimelineState, index: number): void {
  const path = state.path.value;
  const piece = path?.pieces[index];
  if (!path || !piece) return;
  go({ piece: formatPiece(path.step.step, index), slice: piece.slice }, 'replace');
  const start = toBig(piece.start_ps);
  const end = start + toBig(piece.dur_ps);
  const now = state.viewport.value;
  if (start >= startOf(now) && end <= endOf(now)) return;
  const middle = (start + end) / 2n;
  const half = BigInt(Math.round(Math.max(now.span, Number(end - start) * 1.2) / 2));
  state.glide(viewportOf(middle - half, middle + half));
}

/* From end to end; false: the path is not shown, or what is in focus lies beside it. */
export function alongPath(state: TimelineState, direction: 1 | -1): boolean {
  const path = state.path.value;
  if (path === null || path.pieces.length === 0) return false;
  const at = pieceInFocus(state);
  if (at < 0 && query.value.slice) return false;
  const next = at < 0 ? (direction > 0 ? 0 : path.pieces.length - 1) : at + direction;
  if (next >= 0 && next < path.pieces.length) goToPiece(state, next);
  return true;
}

/* Slices of both ends, of a gap what came behind it. */
async function endsOf(
  state: TimelineState,
  path: PathReply,
  index: number,
  abort: AbortSignal,
): Promise<DrawnFlow | null> {
  const piece = path.pieces[index]!;
  const own = piece.slice ?? path.pieces[index + 1]?.slice ?? null;
  if (piece.waits_for === null || own === null) return null;
  const [from, to]: Slice[] = await Promise.all([
    loadSlice(state, piece.waits_for, abort),
    loadSlice(state, own, abort),
  ]);
  const begin = isGap(piece) ? toBig(piece.start_ps) + toBig(piece.dur_ps) : toBig(piece.start_ps);
  return {
    from: { track: from!.track, depth: from!.depth, time: readyAt(path.pieces, index) },
    to: { track: to!.track, depth: to!.depth, time: begin },
  };
}

/* The arrow from what the piece in focus waited for. */
export function usePathArrow(state: TimelineState): readonly DrawnFlow[] {
  const path = state.path.value;
  const index = pieceInFocus(state);
  const [drawn, setDrawn] = useState<readonly DrawnFlow[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    setDrawn([]);
    if (path !== null && index >= 0)
      endsOf(state, path, index, abort.signal)
        .then((flow) => abort.signal.aborted || setDrawn(flow === null ? [] : [flow]))
        .catch(() => undefined);
    return () => abort.abort();
  }, [state, path, index]);
  return drawn;
}

/* Begins and ends from the first piece on, as small numbers: they are painted sixty times a second. */
const edges = new WeakMap<PathReply, Float64Array>();

function edgesOf(path: PathReply): Float64Array {
  let known = edges.get(path);
  if (known === undefined) {
    const zero = toBig(path.pieces[0]?.start_ps ?? 0);
    known = new Float64Array(path.pieces.length + 1);
    path.pieces.forEach((piece, index) => {
      known![index] = Number(toBig(piece.start_ps) - zero);
      known![index + 1] = known![index]! + toNumber(piece.dur_ps);
    });
    edges.set(path, known);
  }
  return known;
}

/* Delays are paler than work, what is unexplained is hatched as what was not recorded. */
function fillOf(piece: PathPiece, tokens: Tokens): { fill: string; label: string } {
  const kind = KINDS.indexOf(piece.kind === 'wait' ? 'idle' : (piece.kind as (typeof KINDS)[number]));
  if (kind < 0) return { fill: tokens.bg3, label: tokens.ink };
  return { fill: tokens.kinds[kind]!.css[1], label: tokens.kinds[kind]!.label };
}

function hatch(context: CanvasRenderingContext2D, left: number, width: number, colour: string): void {
  context.save();
  context.beginPath();
  context.rect(left, 1, width, HEIGHT - 2);
  context.clip();
  context.strokeStyle = colour;
  context.beginPath();
  for (let x = left - HEIGHT - (left % 5); x < left + width; x += 5) {
    context.moveTo(x, HEIGHT);
    context.lineTo(x + HEIGHT, 0);
  }
  context.stroke();
  context.restore();
}

export function paintPath(
  context: CanvasRenderingContext2D,
  state: TimelineState,
  path: PathReply,
  focus: number,
  width: number,
): void {
  const tokens = readTokens();
  const viewport = state.viewport.value;
  const labels = new Labels(context);
  const shift = state.shiftOf(path.step.host ?? '');
  context.font = `11px ${tokens.font}`;
  context.textBaseline = 'middle';
  context.lineWidth = 1;
  const known = edgesOf(path);
  const zero = positionOf(viewport, toBig(path.pieces[0]?.start_ps ?? 0) - shift) * width;
  const scale = width / viewport.span;
  let covered = -1; // what ends within a pixel that is painted already is not seen
  path.pieces.forEach((piece, index) => {
    const left = zero + known[index]! * scale;
    const right = zero + known[index + 1]! * scale;
    if (right < 0 || left > width || (right < covered && index !== focus)) return;
    const from = Math.max(0, left);
    const size = Math.max(1, Math.min(width, right) - from);
    const { fill, label } = fillOf(piece, tokens);
    context.fillStyle = fill;
    context.fillRect(from, 1, size, HEIGHT - 2);
    if (piece.kind === 'unexplained') hatch(context, from, size, tokens.ink3);
    else if (isGap(piece) && size > 3) {
      context.fillStyle = tokens.edge;
      context.fillRect(from, HEIGHT / 2, size, 1);
    }
    if (size > 2) {
      context.fillStyle = tokens.bg;
      context.fillRect(from + size - 0.5, 1, 0.5, HEIGHT - 2);
    }
    if (size >= LABEL_PIXELS_MIN && !isGap(piece)) {
      context.fillStyle = label;
      context.fillText(labels.fit(shown(piece.name), size - 8), from + 4, HEIGHT / 2 + 0.5);
    }
    covered = Math.floor(from + size);
  });
  const piece = path.pieces[focus];
  if (!piece) return;
  const left = zero + known[focus]! * scale;
  const size = (known[focus + 1]! - known[focus]!) * scale;
  context.strokeStyle = tokens.ink;
  context.lineWidth = 2;
  context.strokeRect(left, 1, Math.max(2, size), HEIGHT - 2);
}

/* What it waited for by its name, which comes with the slice. */
function WaitedFor({ state, piece }: { state: TimelineState; piece: PathPiece }) {
  const from = useJson<SliceDetails>(piece.waits_for === null ? null : 'api/slice', {
    run: state.run.id,
    id: piece.waits_for,
  });
  if (piece.waits_for === null) return <>{piece.evidence}</>;
  return (
    <>
      waited for{' '}
      <Link to={{ slice: piece.waits_for, piece: null }}>
        {from.data && from.data.id === piece.waits_for ? <Name text={from.data.name} /> : piece.waits_for}
      </Link>{' '}
      <span class="faint">{becauseOf(piece)}</span>
    </>
  );
}

/* The piece in focus, in words, above what is known of its slice. */
export function PieceLine({ state }: { state: TimelineState }) {
  const path = state.path.value;
  const index = pieceInFocus(state);
  const piece = path?.pieces[index];
  if (!path || !piece) return null;
  return (
    <p class="piece-line dots">
      <span>
        <button
          class="bare"
          aria-label="The piece before"
          data-tip="The piece before: ["
          onClick={() => alongPath(state, -1)}
        >
          ‹
        </button>{' '}
        {count(index + 1)} of {count(path.row_count)} on the critical path{' '}
        <button
          class="bare"
          aria-label="The piece after"
          data-tip="The piece after: ]"
          onClick={() => alongPath(state, 1)}
        >
          ›
        </button>
      </span>
      <strong data-tip={timeExact(piece.dur_ps)}>{time(piece.dur_ps)}</strong>
      <span>{PIECE_WORDS[piece.kind]}</span>
      <span>
        <WaitedFor state={state} piece={piece} />
      </span>
    </p>
  );
}

function Tip({ path, piece }: { path: PathReply; piece: PathPiece }) {
  const part = share(toNumber(piece.dur_ps) / toNumber(path.step.dur_ps));
  return (
    <>
      <strong>{time(piece.dur_ps)}</strong> {part} of the step · {PIECE_WORDS[piece.kind]}
      <br />
      {!isGap(piece) && (
        <>
          <bdi>{shown(piece.name)}</bdi>
          <br />
        </>
      )}
      <span class="faint">{becauseOf(piece)}</span>
    </>
  );
}

export function PathRow({ state }: { state: TimelineState }) {
  if (!isPathShown(state)) return null;
  const path = state.path.value;
  const focus = pieceInFocus(state);
  const { width } = state.size.value;
  const viewport = state.viewport.value;
  const pieceUnder = (x: number): number =>
    path === null || width === 0
      ? -1
      : pieceIndexAt(path.pieces, timeAt(viewport, x / width) + state.shiftOf(path.step.host ?? ''));
  const paint = (canvas: HTMLCanvasElement, wide: number, high: number): void => {
    canvas.width = Math.round(wide * devicePixelRatio);
    canvas.height = Math.round(high * devicePixelRatio);
    const context = canvas.getContext('2d')!;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    if (path) paintPath(context, state, path, focus, wide);
  };
  const piece = path?.pieces[focus];
  return (
    <div class="timeline-path" data-pieces={path?.pieces.length ?? 0}>
      <span class="path-name cut" data-tip="What ran and what was waited for, from a step's start to its end">
        {path === null
          ? 'critical path'
          : path.step.step === null
            ? 'critical path of the run'
            : `critical path, step ${path.step.step}`}
      </span>
      <Canvas
        height={HEIGHT}
        label={
          piece
            ? `Critical path: ${pieceWords(piece)}, ${count(focus + 1)} of ${count(path!.row_count)}`
            : `Critical path: ${count(path?.row_count ?? 0)} pieces`
        }
        paint={paint}
        onMove={(x, _y, event) => {
          const under = path?.pieces[pieceUnder(x)];
          if (under) showTip(<Tip path={path!} piece={under} />, event.clientX, event.clientY);
          else hideTip();
        }}
        onLeave={hideTip}
        onClick={(x) => goToPiece(state, pieceUnder(x))}
      />
    </div>
  );
}
