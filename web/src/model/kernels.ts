/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: rows as the reply gives them, and the sentence that opens their page. */
import type { Ps } from '../data/json';
import type { Kind, Note, Reasons } from '../data/types';
import { plural, share, time, toNumber } from './numbers';
import { strong, type Sentence } from './sentence';

export interface KernelRow {
  key: string;
  name: string;
  kind?: Kind | null;
  count: number | null;
  total_ps: Ps | null;
  self_ps: Ps | null;
  share?: number | null;
  mean_ps: Ps | null;
  stdev_ps?: Ps | null;
  min_ps: Ps | null;
  p50_ps: Ps | null;
  p95_ps: Ps | null;
  max_ps: Ps | null;
  variant_count?: number;
  grid?: string | null;
  block?: string | null;
  registers?: number | null;
  shared_bytes?: number | null;
  occupancy?: number | null;
  shapes?: { mean: number; least: number; most: number }; // occupancy of its launch shapes, where they are several
  limited_by?: string | null;
  tensor_core?: boolean | null;
  tensor_core_by?: string | null;
  waves?: number | null;
  tail_share?: number | null;
  compute_share?: number | null; // of the data sheet's FLOP/s for the types of its ops
  memory_share?: number | null;
  starved_count?: number | null; // launches for which their stream stood idle
  starved_ps?: Ps | null;
  queue_p50_ps?: Ps | null;
  launch_p50_ps?: Ps | null;
  call_p50_ps?: Ps | null;
  gap_p50_ps?: Ps | null;
  graph_count?: number;
  op?: string | null;
  module?: string | null;
  scope?: string | null;
  source?: string | null;
  ncu?: string | null;
  device_ps?: Ps | null; // of annotations: launched inside
  device_self_ps?: Ps | null;
  device_share?: number | null;
  launch_count?: number | null;
  projected_ps?: Ps | null;
  projected_count?: number | null;
  projected_mean_ps?: Ps | null;
  projected_min_ps?: Ps | null;
  projected_p50_ps?: Ps | null;
  projected_max_ps?: Ps | null;
  projected_stdev_ps?: Ps | null;
  // of kernels by range
  range?: string;
  range_count?: number | null;
  inner_ps?: Ps;
  // of activities and ranges
  slice?: string;
  start_ps?: Ps;
  dur_ps?: Ps;
  what?: string;
  device?: number | null;
  stream?: string | null;
  context?: string | null;
  correlation?: number | null;
  static_shared_bytes?: number | null;
  dynamic_shared_bytes?: number | null;
  bytes?: number | null;
  bytes_per_s?: number | null;
  direction?: string | null;
  memory?: string | null;
  call?: string | null;
  call_start_ps?: Ps | null;
  call_ps?: Ps | null;
  queue_ps?: Ps | null;
  launch_to_end_ps?: Ps | null;
  graph?: string | null;
  range_start_ps?: Ps;
  range_ps?: Ps;
  level?: number;
  child_count?: number;
  thread?: string | null;
  stack?: string | null;
  reasons?: Reasons;
}

export interface KernelList {
  by: string;
  of: string;
  counted?: string | null; // which steps step=counted are
  total_ps: Ps;
  total_self_ps: Ps;
  kernel_count: number;
  launch_count: number;
  occupancy_known_ps: Ps;
  half_occupancy_ps: Ps;
  tensor_core_known_ps: Ps;
  tensor_core_ps: Ps;
  graph_ps: Ps;
  missing: string | null;
  row_count: number;
  rows: KernelRow[];
  notes: Note[];
  approx: string[];
}

const NOUNS: Record<string, string> = {
  kernel: 'kernel',
  variant: 'launch shape',
  api: 'call',
  activity: 'activity',
  range: 'range',
  'range-kernel': 'kernel of a range',
  annotation: 'annotation',
};

/* "214 kernels take 690 ms; 31 % of it below half occupancy, 62 % on tensor cores." Shares are of what is known,
 * so they stand only where most of it is. */
export function kernelsSentence(list: KernelList): Sentence {
  if (list.row_count === 0) return [];
  const total = toNumber(list.total_ps);
  if (list.by === 'activity')
    return [
      strong(plural(list.row_count, 'activity', 'activities')),
      ' of devices, in order of time: ',
      strong(time(list.total_ps)),
      '.',
    ];
  if (list.by === 'range')
    return [strong(plural(list.row_count, 'range')), ' launched ', strong(time(list.total_ps)), ' of device time.'];
  if (list.by === 'range-kernel')
    return [
      strong(plural(list.row_count, 'kernel of a range', 'kernels of ranges')),
      '; all kernels take ',
      strong(time(list.total_ps)),
      '.',
    ];
  if (list.by === 'annotation') {
    const rest = list.rows.find((row) => row.name === '(no annotation)');
    const named = plural(list.row_count - (rest ? 1 : 0), 'annotation');
    if (total === 0) return [strong(named), ' on the host; the profile holds no device work.'];
    const inside = total - toNumber(rest?.device_self_ps ?? 0);
    return [
      strong(named),
      ' launched ',
      strong(share(inside / total)),
      ' of ',
      strong(time(list.total_ps)),
      ' of device time.',
    ];
  }
  const sentence: Sentence = [
    strong(plural(list.row_count, NOUNS[list.by] ?? list.by)),
    list.row_count === 1 ? ' takes ' : ' take ',
    strong(time(list.total_ps)),
  ];
  const known = toNumber(list.occupancy_known_ps);
  const told = toNumber(list.tensor_core_known_ps);
  if (list.by !== 'api' && total > 0 && known > total / 2)
    sentence.push('; ', strong(share(toNumber(list.half_occupancy_ps) / total)), ' of it below half occupancy');
  if (list.by !== 'api' && total > 0 && told > total / 2)
    sentence.push(
      known > total / 2 ? ', ' : '; ',
      strong(share(toNumber(list.tensor_core_ps) / total)),
      ' on tensor cores',
    );
  sentence.push('.');
  return sentence;
}

/* Of a kernel that was launched in several shapes: the mean by their times, where all are known. */
export function withOccupancy(rows: readonly KernelRow[], variants: readonly KernelRow[]): KernelRow[] {
  const of = new Map<string, KernelRow[]>();
  for (const variant of variants) of.set(variant.name, [...(of.get(variant.name) ?? []), variant]);
  return rows.map((row) => {
    const shapes = of.get(row.name) ?? [];
    const known = shapes.every((one) => one.occupancy !== null && one.occupancy !== undefined);
    const time = (one: KernelRow): number => toNumber(one.total_ps ?? 0);
    const whole = shapes.reduce((sum, one) => sum + time(one), 0);
    if ((row.variant_count ?? 1) < 2 || shapes.length !== row.variant_count || !known || whole === 0) return row;
    const mean = shapes.reduce((sum, one) => sum + one.occupancy! * time(one), 0) / whole;
    const each = shapes.map((one) => one.occupancy!);
    return { ...row, shapes: { mean, least: Math.min(...each), most: Math.max(...each) } };
  });
}
