/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline's picture, as numbers: both axes are logarithmic.
 *
 *   rate |        ______ a roof of arithmetic
 *        |      /  o     an op, its area the time it took
 *        |    / o        the slope is a memory
 *        +------------ FLOPs a byte
 */
import type { Roof, Roofline, RooflineRow } from '../data/types';
import { rate, share, toNumber } from './numbers';
import { named, strong, type Sentence } from './sentence';

export interface Point {
  row: RooflineRow;
  intensity: number;
  rate: number;
  share: number;
}

export interface Range {
  from: number; // powers of ten, whole
  to: number;
}

export interface RoofLine {
  roof: Roof;
  from: { intensity: number; rate: number };
  to: { intensity: number; rate: number };
}

/* Ops that compute and touch memory; what only moves bytes has no place on a logarithmic axis. */
export function pointsOf(rows: readonly RooflineRow[]): Point[] {
  return rows
    .filter((row) => (row.intensity ?? 0) > 0 && (row.flops_per_s ?? 0) > 0)
    .map((row) => ({ row, intensity: row.intensity!, rate: row.flops_per_s!, share: row.share ?? 0 }));
}

const PEAKS_OF: Record<string, string[]> = {
  f64: ['f64', 'f64 matrix'],
  c128: ['f64', 'f64 matrix'],
  f16: ['bf16'],
  bf16: ['bf16'],
  s8: ['s8'],
  u8: ['s8'],
  s4: ['s8'],
  u4: ['s8'],
  f4e2m1fn: ['f4'],
};

/* Roofs over what the rows compute in; of a chip that names none of those, what it is known for. */
export function roofsOf(data: Roofline): Roof[] {
  const all = data.devices[0]?.roofs ?? [];
  const wanted = new Set(
    data.rows.flatMap((row) =>
      row.type === null ? [] : row.type.startsWith('f8') ? ['f8'] : (PEAKS_OF[row.type] ?? ['f32', 'tf32']),
    ),
  );
  const some = all.filter((roof) => roof.kind === 'memory' || wanted.has(roof.name));
  if (some.some((roof) => roof.kind === 'compute')) return some;
  const known = all.filter((roof) => roof.kind === 'memory' || roof.name === 'bf16');
  return known.some((roof) => roof.kind === 'compute') ? known : all;
}

function rangeOf(values: readonly number[], least: number): Range {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.ceil(Math.log10(Math.max(...values)));
  return { from, to: Math.max(to, from + least) };
}

export function rangesOf(points: readonly Point[], roofs: readonly Roof[]): { x: Range; y: Range } {
  const compute = roofs.filter((roof) => roof.kind === 'compute').map((roof) => roof.per_s);
  const memory = roofs.find((roof) => roof.kind === 'memory');
  const ridges = memory ? compute.map((peak) => (peak / memory.per_s) * 2) : [];
  /* Circles have a width: none stands on the edge. */
  const around = (value: number): number[] => [value / 2, value * 2];
  return {
    x: rangeOf([...points.flatMap((point) => around(point.intensity)), ...ridges, 1], 2),
    y: rangeOf([...points.flatMap((point) => around(point.rate)), ...compute], 2),
  };
}

/* Slopes end at the highest roof; roofs begin where the fastest memory meets them. */
export function roofLines(roofs: readonly Roof[], ranges: { x: Range; y: Range }): RoofLine[] {
  const right = 10 ** ranges.x.to;
  const left = 10 ** ranges.x.from;
  const memories = roofs.filter((roof) => roof.kind === 'memory');
  const highest = Math.max(...roofs.filter((roof) => roof.kind === 'compute').map((roof) => roof.per_s), 0);
  const slowest = memories[0]?.per_s;
  return roofs.map((roof) => {
    if (roof.kind === 'memory') {
      const end = highest > 0 ? Math.min(right, highest / roof.per_s) : right;
      return {
        roof,
        from: { intensity: left, rate: left * roof.per_s },
        to: { intensity: end, rate: end * roof.per_s },
      };
    }
    const start = slowest === undefined ? left : Math.max(left, roof.per_s / slowest);
    return { roof, from: { intensity: start, rate: roof.per_s }, to: { intensity: right, rate: roof.per_s } };
  });
}

export const unitOf = (roof: Roof): string => (roof.kind === 'memory' ? 'B/s' : 'FLOP/s');
/* "NVIDIA H100 data sheet" is enough as "data sheet"; hover tells which. */
export const sourceWords = (source: string): string =>
  source.endsWith('data sheet') ? 'data sheet' : source === 'the profile' ? 'says the profile' : source;
export const roofWords = (roof: Roof): string =>
  `${roof.name} ${rate(roof.per_s, unitOf(roof))} (${sourceWords(roof.source)})`;

/* The roof that an op of this row is measured by. */
function roofOver(row: RooflineRow, data: Roofline): Roof | undefined {
  const roofs = data.devices[0]?.roofs ?? [];
  if (row.bound_by === 'memory') return roofs.find((roof) => roof.kind === 'memory');
  const reached = row.peak_share && row.flops_per_s ? row.flops_per_s / row.peak_share : 0;
  return roofs.find((roof) => roof.kind === 'compute' && Math.abs(roof.per_s / reached - 1) < 0.02);
}

export function rooflineSentence(data: Roofline): Sentence {
  const known = data.rows.filter((row) => row.peak_share !== null);
  const first = known.find((row) => row.bound_by === 'compute' && (row.share ?? 0) >= 0.01) ?? known[0];
  const total = toNumber(data.total_self_ps);
  const bound = data.bounds.find((one) => one.bound_by === 'memory');
  if (!first) {
    const computes = data.rows.find((row) => (row.flops_per_s ?? 0) > 0);
    if (!computes) return [];
    return [
      named(computes.name),
      ' does ',
      strong(rate(computes.flops_per_s!, 'FLOP/s')),
      '; the device’s peak is unknown.',
    ];
  }
  const roof = roofOver(first, data);
  const sentence: Sentence = [named(first.name), ' reaches ', strong(share(first.peak_share!))];
  sentence.push(
    roof
      ? ` of ${rate(roof.per_s, unitOf(roof))} (${roof.name}, ${sourceWords(roof.source)})`
      : ' of what the device can do',
  );
  if (bound && total > 0 && toNumber(bound.self_ps) > 0)
    sentence.push('; ops that take ', strong(share(toNumber(bound.self_ps) / total)), ' of the time are memory bound');
  sentence.push('.');
  return sentence;
}
