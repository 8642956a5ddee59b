/* SPDX-License-Identifier: Apache-2.0 */
/* One allocator over time: what is allocated, what is reserved above it, the peak and the limit.
 *
 *   ╌╌╌╌╌╌╌╌╌╌ limit
 *      ▾ 20.0 GiB
 *   ░░░▓▓▓░░░      reserved upon allocated; both count towards the peak
 */
import type { Allocator, Sample } from '../../data/memory';
import { fixed, size, THIN, time, timeScale, toNumber } from '../../model/numbers';
import { decimalsOf, LevelChart } from './level_chart';

export function hasReserved(allocator: Allocator): boolean {
  return allocator.samples.some((sample) => (sample.reserved_bytes ?? 0) > 0);
}

/* A limit far above all that was used would make a line of it: then it is told in words only. */
const LIMIT_FAR = 5;

export function limitInSight({ capacity_bytes: capacity, peak_bytes: peak }: Allocator): number | null {
  return capacity !== null && peak !== null && peak * LIMIT_FAR >= capacity ? capacity : null;
}

function total(sample: Sample): number | null {
  return sample.allocated_bytes === null ? null : sample.allocated_bytes + (sample.reserved_bytes ?? 0);
}

function tipOf(sample: Sample): string {
  const parts = [
    sample.allocated_bytes === null ? null : `${size(sample.allocated_bytes)} allocated`,
    sample.reserved_bytes ? `${size(sample.reserved_bytes)} reserved` : null,
  ];
  return `${time(sample.at_ps)}: ${parts.filter((part) => part !== null).join(', ')}`;
}

export type Span = readonly [number, number];

/* From the first to the last that any of them tells: charts beneath one another have one axis. */
export function spanOf(allocators: readonly Allocator[]): Span {
  const times = allocators.flatMap(({ samples }) =>
    samples.length > 0 ? [samples[0]!, samples.at(-1)!].map((sample) => toNumber(sample.at_ps)) : [],
  );
  return [Math.min(...times), Math.max(...times)];
}

/* Before its first sample a level is unknown; the last one holds. */
function filling(samples: readonly Sample[], [from, to]: Span): readonly Sample[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) return samples;
  return [
    ...(toNumber(first.at_ps) > from ? [{ ...first, at_ps: from, allocated_bytes: null, reserved_bytes: null }] : []),
    ...samples,
    ...(toNumber(last.at_ps) < to ? [{ ...last, at_ps: to }] : []),
  ];
}

interface Props {
  allocator: Allocator;
  height: number;
  at: string | null;
  span: Span;
  onPick: (at: string) => void;
}

/* A click asks who was alive then. */
export function MemoryChart({ allocator, height, at, span, onPick }: Props) {
  const { peak_bytes: peak, peak_at_ps: peakAt } = allocator;
  const samples = filling(allocator.samples, span);
  const limit = limitInSight(allocator);
  const times = timeScale(samples.map((sample) => sample.at_ps));
  const highest = samples.reduce((most, sample) => Math.max(most, total(sample) ?? 0), 1);
  return (
    <LevelChart
      label={`Memory of ${allocator.name} over time`}
      height={height}
      tip={(index) => tipOf(samples[index]!)}
      words={(index) => tipOf(samples[index]!)}
      onPick={(index) => onPick(String(samples[index]!.at_ps))}
      scene={(tokens) => ({
        xs: samples.map((sample) => toNumber(sample.at_ps)),
        areas: [
          { values: samples.map(total), fill: tokens.bg3 },
          { values: samples.map((sample) => sample.allocated_bytes), fill: tokens.kinds[6]!.css[1] },
        ],
        top: Math.max(highest, limit ?? 0, (peak ?? 0) * 1.15) * 1.02,
        xWords: (ticks) =>
          ticks.map((tick, index) => {
            const figure = fixed(tick / times.divisor, decimalsOf(ticks, times.divisor));
            return index === 0 ? `${figure}${THIN}${times.unit}` : figure;
          }),
        peak: peak === null || peakAt === null ? null : { x: toNumber(peakAt), y: peak, words: `peak ${size(peak)}` },
        limit: limit === null ? null : { y: limit, words: `limit ${size(limit)}` },
        chosen: at === null ? null : Number(at),
      })}
    />
  );
}
