/* SPDX-License-Identifier: Apache-2.0 */
/* The replies, in the API's own words. */
import type { Ps } from './json';

export type Kind = 'compute' | 'communication' | 'copy' | 'host' | 'input' | 'compile' | 'other' | 'idle';
export const KINDS: Kind[] = ['compute', 'communication', 'copy', 'host', 'input', 'compile', 'other', 'idle'];

export type Reasons = Record<string, string>;

export interface Note {
  kind: string;
  severity: 'info' | 'warning' | 'error';
  message: string;
  host: string | null;
  count: number;
}

export type RunState = 'writing' | 'queued' | 'indexing' | 'ready' | 'partial' | 'failed' | 'gone';

export interface Run {
  id: string;
  content_id: string | null;
  name: string;
  dir: string;
  dirs: string[];
  state: RunState;
  progress: number | null;
  error: string | null;
  started_at: string | null;
  epoch_ns: string | null;
  duration_ps: Ps | null;
  hosts: string[];
  device_count: number | null;
  device_kind: string | null;
  framework: string | null;
  formats: string[];
  file_count: number;
  file_bytes: number;
  slice_count: number | null;
  step_count: number | null;
  step_median_ps: Ps | null;
  uploaded: boolean; // by a browser: it may be deleted
  badges: string[];
  reasons?: Reasons;
}

export interface RunList {
  scan: { state: string; directories: number; files: number; directory?: string };
  runs: Run[];
  row_count: number;
  next: string | null;
  notes: Note[];
}

export interface RunFile {
  path: string;
  host: string | null;
  format: string | null;
  bytes: number;
  state: string;
  error: string | null;
}

export interface RunHost {
  name: string;
  key?: string;
  hostname: string | null;
  epoch_ns: string | null;
  offset_ps: Ps | null;
  skew_ps: Ps | null;
}

/* Still being read, or to be read again: then nothing is known of its views. */
export function isUnsettled(run: RunDetails): boolean {
  if (['queued', 'indexing', 'writing'].includes(run.state)) return true;
  if (run.state === 'failed' || run.state === 'gone') return false;
  const reasons = new Set(
    Object.entries(run.views ?? {}).flatMap(([name, view]) => (name === 'files' ? [] : [view?.reason ?? null])),
  );
  return reasons.size === 1 && !reasons.has(null); // one reason for all: it is not read yet
}

/* Why a view has nothing to show. */
/* Hosts are compared by what they did in time. */
export function absence(run: RunDetails, view: string): string | null {
  return isUnsettled(run) ? null : (run.views?.[view === 'hosts' ? 'timeline' : view]?.reason ?? null);
}

export interface RunDetails extends Omit<Run, 'hosts'> {
  files: RunFile[];
  hosts: RunHost[];
  views: Record<string, { reason: string } | null>;
  notes: Note[];
  environment?: Record<string, unknown> | { name: string; value: unknown }[];
  capture_options?: Record<string, unknown>;
  programs?: { name: string; fingerprint?: string; instruction_count?: number }[];
}

export type TrackKind = 'process' | 'device' | 'stream' | 'thread' | 'async' | 'counter';

export type TrackRole = 'steps' | 'modules' | 'ops' | 'async_ops' | 'scopes' | 'host';

export interface Track {
  id: string;
  parent: string | null;
  host: string;
  name: string;
  kind: TrackKind;
  role?: TrackRole | null;
  device?: number | null;
  derived: boolean;
  order?: number | null;
  depth_count: number;
  slice_count: number;
  duration_sum_ps: Ps;
  start_ps: Ps | null;
  end_ps: Ps | null;
}

export interface TrackList {
  tracks: Track[];
  row_count: number;
  next: string | null;
  notes?: Note[];
}

export interface Slice {
  id: string;
  track: string;
  depth: number;
  start_ps: Ps;
  dur_ps: Ps;
  self_ps: Ps | null;
  name: string;
  kind: Kind;
  flags: string[] | number;
  matched?: 'name' | 'arg' | 'scope' | 'source' | null; // of a search: where its word stands
}

export interface SliceList {
  rows: Slice[];
  row_count: number;
  next: string | null;
  notes?: Note[];
}

export interface Arg {
  name: string;
  type?: string;
  value: unknown;
}

export interface FlowEnd {
  slice: string | null;
  track: string | null;
  ts_ps: Ps;
}

export interface Flow {
  id: string;
  kind: string;
  from: FlowEnd;
  to: FlowEnd;
}

export interface ChainLink extends Slice {
  via: 'before' | 'flow' | 'launch' | 'inside';
  covered_ps: Ps; // from its begin until it was ready
  gap_ps: Ps; // from then to the begin of what waited for it
}

export interface ChainReply {
  rows: ChainLink[];
  ended: 'begin' | 'limit';
  covered_ps: Ps;
  gap_ps: Ps;
}

export interface KernelShape {
  grid: string | null;
  block: string | null;
  registers: number | null;
  shared_bytes: number | null;
  occupancy: number | null;
  limited_by: string | null;
  tensor_core: boolean | null;
  tensor_core_by: string | null;
  waves: number | null;
  tail_share: number | null;
  ncu: string | null;
  reasons?: Reasons;
}

export interface SliceDetails extends Slice {
  args?: Arg[];
  parents?: Slice[];
  children?: { name: string; count: number; total_ps: Ps }[];
  flows?: Flow[];
  op?: string | null;
  kernel?: string | null;
  shape?: KernelShape | null;
  launch?: { slice: string; name: string; start_ps: Ps; dur_ps: Ps; latency_ps: Ps; queue_ps: Ps } | null;
  graph?: { part: 'node' | 'whole'; id: string | null; node: string | null } | null;
  module?: string | null;
  scope?: string | null;
  source?: string | null;
  flops?: number | null;
  bytes?: number | null;
  step?: number | string | null;
  category?: string | null;
  attributed?: { start_ps: Ps; dur_ps: Ps } | null;
  stack?: SliceStack;
  mates?: {
    count: number;
    mean_ps: Ps;
    p50_ps: Ps;
    p95_ps: Ps;
    rank: number | null;
    min_ps: Ps;
    max_ps: Ps;
    histogram: Histogram | null;
  } | null;
  reasons?: Reasons;
}

export interface TopRow {
  key: string;
  name: string;
  kind: Kind | null;
  category: string | null;
  module: string | null;
  scope: string | null;
  source: string | null;
  phase: string | null; // of a training step
  count: number;
  event_count: number;
  total_ps: Ps;
  self_ps: Ps;
  share: number | null;
  cumulative_share: number | null;
  mean_ps: Ps | null;
  stdev_ps: Ps | null;
  min_ps: Ps | null;
  p50_ps: Ps | null;
  p95_ps: Ps | null;
  max_ps: Ps | null;
  flops: number | null;
  bytes: number | null;
  flops_per_s: number | null;
  bytes_per_s: number | null;
  bound_by: string | null;
  on_path_ps?: Ps | null;
  slack_ps?: Ps | null;
  peak_share: number | null;
  reasons?: Reasons;
}

export interface TopList {
  run: { id: string; name: string };
  by: string;
  of: 'device' | 'host';
  counted?: string | null; // which steps step=counted are
  row_count: number;
  total_self_ps: Ps;
  next: string | null;
  rows: TopRow[];
  notes: Note[];
  approx: string[];
}

/* When an op ran. */
export interface OpTimes {
  name: string;
  module: string | null;
  counted?: string | null;
  event_count: number;
  self_ps: Ps;
  min_ps: Ps;
  max_ps: Ps;
  longest: string;
  steps: { step: number; host: string; start_ps: Ps; dur_ps: Ps; count: number; self_ps: Ps }[];
  step_count: number;
  outside: { count: number; self_ps: Ps };
  histogram: Histogram | null;
}

export interface Histogram {
  bounds_ps: Ps[];
  counts: number[];
}

export interface Roof {
  kind: 'compute' | 'memory';
  name: string;
  per_s: number;
  source: string;
}

export interface RooflineRow extends Omit<
  TopRow,
  'event_count' | 'cumulative_share' | 'mean_ps' | 'stdev_ps' | 'min_ps' | 'p50_ps' | 'p95_ps' | 'max_ps'
> {
  type: string | null;
  intensity: number | null;
  roof_flops_per_s: number | null;
  counted: string | null;
}

export interface Roofline {
  run: { id: string; name: string };
  by: string;
  counted?: string | null; // which steps step=counted are
  devices: {
    host: string;
    name: string | null;
    device_count: number;
    roofs: Roof[];
    links: { to: 'devices' | 'host'; name: string | null; bytes_per_s: number | null; reason: string | null }[];
    reason: string | null;
    doubt: string | null;
  }[];
  program: {
    self_ps: Ps;
    op_count: number;
    unknown_count: number;
    flops: number | null;
    bytes: number | null;
    intensity: number | null;
    flops_per_s: number | null;
    bytes_per_s: number | null;
    peak_share: number | null;
  };
  bounds: { bound_by: string; self_ps: Ps }[];
  missing: string | null;
  total_self_ps: Ps;
  row_count: number;
  next: string | null;
  rows: RooflineRow[];
  notes: Note[];
}

export interface Share {
  kind: Kind;
  label?: string; // the word to show, where the kind's own says too much
  self_ps: Ps;
  share: number;
}

export interface StepRow {
  step: number | string;
  host: string | null;
  start_ps: Ps;
  dur_ps: Ps;
  warmup: boolean;
  cut?: boolean;
  outlier: boolean;
  breakdown: { kind: Kind; self_ps: Ps }[];
  rule?: 'span' | 'work' | 'steps-line' | 'next'; // what dur_ps is
  span_ps?: Ps | null; // of the program
  work_start_ps?: Ps | null;
  work_end_ps?: Ps | null;
  ahead?: number | null; // steps that devices had not finished when the span ended
  delta_ps?: Ps | null;
  slowest_by?: string | null; // what took longer than in the others
  slowest_by_ps?: Ps | null;
  busy_ps?: Ps | null;
  wait_ps?: Ps | null;
  hidden_communication_ps?: Ps | null;
  reasons?: Record<string, string>;
}

export interface StepDeviceRow {
  step: number;
  host: string;
  device: number | null;
  start_ps: Ps;
  dur_ps: Ps;
  in_mean: boolean;
  busy_ps: Ps;
  wait_ps: Ps;
  hidden_communication_ps: Ps;
  breakdown: { kind: Kind; self_ps: Ps }[];
}

export interface IdleRow {
  host: string;
  device: number;
  cause: string;
  idle_ps: Ps;
  share: number | null;
  share_of_time: number | null;
  longest_ps: Ps | null;
  longest_start_ps: Ps | null;
}

export interface GapRow {
  host: string;
  device: number;
  start_ps: Ps;
  dur_ps: Ps;
  cause: string;
  cause_ps: Ps;
  step: number | null;
  before: string | null;
  after: string | null;
}

export interface HostRow {
  name: string;
  host: string;
  device: number | null;
  device_count: number;
  step_count: number;
  step_median_ps: Ps | null;
  step_min_ps: Ps | null;
  step_max_ps: Ps | null;
  busy_ps: Ps | null;
  idle_ps: Ps | null;
  busy_share: number | null;
  communication_ps: Ps | null;
  hidden_communication_ps: Ps | null;
  op_wait_ps: Ps | null;
  wait_ps: Ps | null;
  wait_share: number | null;
  last_count: number | null;
  compared_count: number;
  lag_ps: Ps | null;
  skew_ps: Ps | null;
  straggler: boolean;
  reasons: Record<string, string>;
}

export interface HostStep {
  step: number;
  host: string;
  device: number | null;
  start_ps: Ps;
  end_ps: Ps;
  dur_ps: Ps;
  end_lag_ps: Ps;
  communication_ps: Ps;
  wait_ps: Ps | null;
  lag_ps: Ps | null;
  last: boolean;
}

export interface HostTable<R> {
  by: 'host' | 'device';
  rule: string;
  confidence: 'low' | 'medium' | 'high';
  step_count: number;
  compared_count: number;
  basis: 'none' | 'communication' | 'end';
  rows: R[];
  row_count: number;
  next: string | null;
  notes: Note[];
}

export interface StepList<R = StepRow> {
  rows: R[];
  row_count: number;
  next: string | null;
  rule?: string | null;
  notes: Note[];
}

/* What the host did while its devices had nothing to do. */
export interface IdleCause {
  cause: string;
  kind?: Kind;
  self_ps: Ps;
  share: number | null;
}

export interface Overview {
  step: {
    count: number;
    counted?: number; // those the figures are over
    host_count?: number; // that counted steps are of
    numbers?: string | null; // of those: "2-11"
    rule: string | null;
    rule_text?: string | null;
    total_ps: Ps | null;
    median_ps: Ps | null;
    mean_ps: Ps | null;
    stdev_ps: Ps | null;
    min_ps: Ps | null;
    max_ps: Ps | null;
    p95_ps: Ps | null;
    warmup_count: number;
  } | null;
  breakdown: Share[];
  devices: { name: string; host: string; device: number | null; busy_ps: Ps; idle_ps: Ps; busy_share: number | null }[];
  top: TopRow[];
  top_by?: string; // op, kernel or name: what the rows of `top` are
  top_total_self_ps?: Ps;
  breakdown_total_ps?: Ps;
  breakdown_of?: 'steps' | 'capture';
  duration_ps?: Ps;
  efficiency?: { mfu: number | null; is_least: boolean; peak: string | null; reasons: Reasons };
  duty?: { busy_ps: Ps | null; work_ps: Ps | null; wait_ps: Ps | null; hidden_communication_ps: Ps | null };
  idle_causes?: IdleCause[];
  findings: { rule: string; severity: string; text: string; remedy: string; win_ps: Ps | null }[];
  notes: Note[];
  reasons?: Reasons;
}

export interface FlameNode {
  name: string;
  total_ps: Ps;
  self_ps: Ps;
  count: number;
  kind?: Kind | null;
  key?: string;
  first_ps?: Ps | null;
  file?: string; // where the call stands
  line?: number;
  children: FlameNode[];
}

export interface FlameRelative {
  name: string;
  total_ps?: Ps;
  total?: Ps;
  count: number;
}

export interface FlameFocus {
  name: string;
  places: number;
  total_ps?: Ps;
  self_ps?: Ps;
  total?: Ps;
  self?: Ps;
  callers: FlameRelative[];
  callees: FlameRelative[];
}

export interface FlameReply {
  root: FlameNode | null;
  by?: string;
  counted?: string | null;
  of?: string;
  weight?: string;
  order?: string;
  node_count?: number;
  node_count_all?: number; // before it was cut
  sandwich?: { callers: FlameNode; callees: FlameNode };
  focus?: FlameFocus | null;
  unit?: string;
  type?: string | null; // of samples
  snapshot?: string | null;
  notes?: Note[];
}

export interface StackFrame {
  function: string | null;
  file: string | null;
  line: number | null;
}

export interface SliceStack {
  frames: StackFrame[]; // the innermost first
  cut: boolean;
  reason: string | null;
}

export interface SourceReply {
  file: string;
  root: string;
  path: string; // below it
  modified_ns: Ps;
  line: number;
  first_line: number;
  lines: string[];
  line_count: number;
}

export interface SearchReply {
  rows: Slice[];
  row_count: number;
  next: string | null;
  tracks?: { track: string; count: number; counts?: number[] }[];
  density?: { start_ps: Ps; bucket_ps: Ps; counts: number[] };
  notes?: Note[];
}
