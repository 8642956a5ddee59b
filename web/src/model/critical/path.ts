/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path as a row: which step's, which of its pieces, and where one goes from there. */
import type { PathPiece, PieceKind } from '../../data/critical';
import { time, toBig } from '../numbers';

export const PIECE_WORDS: Record<PieceKind, string> = {
  compute: 'compute',
  communication: 'communication',
  copy: 'copy',
  host: 'host work',
  input: 'input',
  compile: 'compile',
  other: 'other work',
  idle: 'wait',
  wait: 'wait',
  launch: 'launch delay',
  scheduling: 'scheduling delay',
  unexplained: 'unexplained',
};

/* A piece in the address: "7.12", the thirteenth of step 7; ".12" of a run without steps. */
export interface PieceAt {
  step: string;
  index: number;
}

export function pieceAt(text: string | undefined): PieceAt | null {
  const match = /^(-?\d{1,19})?\.(\d{1,7})$/.exec(text ?? '');
  return match ? { step: match[1] ?? '', index: Number(match[2]) } : null;
}

export const formatPiece = (step: number | string | null, index: number): string => `${step ?? ''}.${index}`;

export interface StepSpan {
  step: number | string;
  start_ps: number | bigint;
  dur_ps: number | bigint;
}

/* The step at a moment; between two of them, before the first and after the last the nearest. */
export function stepAt<T extends StepSpan>(steps: readonly T[], at: bigint): T | null {
  const away = (step: StepSpan): bigint => {
    const start = toBig(step.start_ps);
    const end = start + toBig(step.dur_ps);
    return at < start ? start - at : at >= end ? at - end + 1n : 0n;
  };
  return steps.reduce<T | null>((best, step) => (best === null || away(step) < away(best) ? step : best), null);
}

/* Pieces are in order of time and follow each other: the one at a moment, -1 outside. */
export function pieceIndexAt(pieces: readonly PathPiece[], at: bigint): number {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (toBig(pieces[middle]!.start_ps) <= at) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low - 1];
  return piece && at < toBig(piece.start_ps) + toBig(piece.dur_ps) ? low - 1 : -1;
}

/* Of a slice the first piece that is its own; -1: it is not on the path. */
export const pieceOfSlice = (pieces: readonly PathPiece[], slice: string | null): number =>
  slice === null ? -1 : pieces.findIndex((piece) => piece.slice === slice);

/* When what a piece waited for was ready: a gap before it lies between that and its begin. */
export function readyAt(pieces: readonly PathPiece[], index: number): bigint {
  const before = pieces[index - 1];
  const piece = pieces[index]!;
  return piece.slice !== null && before?.slice === null ? toBig(before.start_ps) : toBig(piece.start_ps);
}

export const isGap = (piece: PathPiece): boolean => piece.slice === null;

/* "waited for X" needs the name of X, which is a slice's; how that is known is here. */
export function becauseOf(piece: PathPiece): string {
  return piece.waits_for === null ? piece.evidence : `${piece.edge}: ${piece.evidence}`;
}

export const pieceWords = (piece: PathPiece): string =>
  `${isGap(piece) ? PIECE_WORDS[piece.kind] : piece.name} ${time(piece.dur_ps)}`;
