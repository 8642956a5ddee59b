/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of each table of kernels, by what a row is. */
import { shortScope } from '../../model/cut';
import { type KernelRow } from '../../model/kernels';
import { count, shareCell, size, timeScale, UNKNOWN } from '../../model/numbers';
import { Link } from '../../ui/link';
import { type Column } from '../../ui/table';
import { SourceLink } from '../../ui/source';
import { Name } from '../../ui/text';
import {
  why,
  timeColumn,
  textColumn,
  nameColumn,
  shareColumn,
  countColumn,
  occupancyColumn,
  speedColumn,
} from './cells';

function kernelColumns(rows: readonly KernelRow[], by: string): Column<KernelRow>[] {
  const all = timeScale(rows.map((row) => row.total_ps));
  const each = timeScale(rows.map((row) => row.p95_ps));
  const waits = timeScale(rows.map((row) => row.queue_p50_ps));
  const recorded = rows.some((row) => row.registers !== null);
  return [
    nameColumn(by, rows),
    textColumn('op', 'op', 'minmax(96px, 1fr)', rows.some((row) => row.op) ? { from: 1400 } : { optional: true }),
    countColumn,
    timeColumn('total_ps', 'total', all),
    shareColumn('share'),
    timeColumn('p95_ps', 'p95', each, { width: '88px', from: 1500 }),
    textColumn('grid', 'grid', '92px', {
      numeric: true,
      from: by === 'variant' ? 700 : 1100,
      cell: (row) =>
        row.grid ??
        ((row.variant_count ?? 1) > 1 ? (
          <Link to={{ by: 'variant', q: row.name }}>{row.variant_count} shapes</Link>
        ) : (
          UNKNOWN
        )),
    }),
    textColumn('block', 'block', '84px', { numeric: true, from: by === 'variant' ? 700 : 1400 }),
    {
      key: 'registers',
      title: 'registers',
      width: '80px',
      numeric: true,
      ...(recorded ? { from: 1400 } : { optional: true }),
      cell: (row) => row.registers ?? UNKNOWN,
      exact: (row) => (row.registers === null ? why(row, 'registers') : `${row.registers} a thread`),
    },
    {
      key: 'shared_bytes',
      title: 'shared',
      width: '88px',
      numeric: true,
      from: 1500,
      cell: (row) => (row.shared_bytes === null || row.shared_bytes === undefined ? UNKNOWN : size(row.shared_bytes)),
      exact: (row) => (row.shared_bytes === null ? why(row, 'shared_bytes') : `${row.shared_bytes} bytes a block`),
    },
    occupancyColumn(rows),
    textColumn(
      'limited_by',
      'limited by',
      '108px',
      rows.some((row) => row.limited_by) ? { from: 1400 } : { optional: true },
    ),
    {
      key: 'tensor_core',
      title: 'tensor',
      tip: 'uses tensor cores',
      width: '56px',
      from: rows.some((row) => row.tensor_core === true) ? 1180 : 1400,
      cell: (row) =>
        row.tensor_core === null || row.tensor_core === undefined ? UNKNOWN : row.tensor_core ? 'yes' : 'no',
      exact: (row) => row.tensor_core_by ?? why(row, 'tensor_core'),
    },
    speedColumn('compute_share', 'of compute', rows, 'FLOP/s of its ops, of the data sheet\u2019s for their types'),
    speedColumn(
      'memory_share',
      'of memory',
      rows,
      'bytes/s of its ops, of the data sheet\u2019s; above 100 % from a cache',
    ),
    {
      key: 'waves',
      title: 'waves',
      tip: 'how many times its blocks fill the device',
      width: '72px',
      numeric: true,
      ...(rows.some((row) => row.waves) ? { from: 1600 } : { optional: true }),
      cell: (row) => (row.waves === null || row.waves === undefined ? UNKNOWN : row.waves.toFixed(2)),
      exact: (row) => why(row, 'waves'),
    },
    {
      key: 'tail_share',
      title: 'tail',
      tip: 'places for blocks in its waves that stay empty',
      width: '72px',
      numeric: true,
      optional: true,
      cell: (row) => shareCell(row.tail_share),
      exact: (row) => why(row, 'tail_share'),
    },
    {
      key: 'starved_count',
      title: 'late launches',
      tip: 'launches that their stream stood idle for',
      width: '104px',
      numeric: true,
      optional: true,
      cell: (row) =>
        row.starved_count === null || row.starved_count === undefined ? UNKNOWN : count(row.starved_count),
      exact: (row) => why(row, 'starved_count'),
    },
    timeColumn('starved_ps', 'idle before', all, {
      optional: true,
      width: '104px',
      tip: 'how long its streams stood idle because it was launched late',
    }),
    timeColumn('queue_p50_ps', 'queue p50', waits, {
      width: '96px',
      tip: 'from the end of its launch to its start, median',
      ...(rows.some((row) => row.compute_share || row.memory_share) ? { from: 1400 } : {}),
    }),
    timeColumn('gap_p50_ps', 'gap p50', waits, { optional: true, tip: 'idle time of its stream before it, median' }),
    timeColumn('launch_p50_ps', 'launch p50', waits, {
      optional: true,
      tip: 'from the start of its launch to its start, median',
    }),
    timeColumn('call_p50_ps', 'call p50', waits, {
      optional: true,
      tip: 'how long its launch took on the host, median',
    }),
    timeColumn('mean_ps', 'mean', each, { optional: true }),
    timeColumn('stdev_ps', 'stdev', each, { optional: true }),
    timeColumn('min_ps', 'min', each, { optional: true }),
    timeColumn('p50_ps', 'p50', each, { optional: true }),
    timeColumn('max_ps', 'max', each, { optional: true }),
    {
      key: 'graph_count',
      title: 'by a graph',
      width: '80px',
      numeric: true,
      optional: !rows.some((row) => (row.graph_count ?? 0) > 0),
      cell: (row) => count(row.graph_count ?? 0),
    },
    textColumn('module', 'module', 'minmax(96px, 1fr)', { optional: true }),
    textColumn('scope', 'scope', 'minmax(120px, 1fr)', {
      optional: true,
      cutFront: true,
      cell: (row) => (row.scope ? <Name text={shortScope(row.scope)} /> : UNKNOWN),
    }),
    textColumn('source', 'source', 'minmax(120px, 1fr)', {
      optional: true,
      cutFront: true,
      cell: (row) => (row.source ? <SourceLink source={row.source} /> : UNKNOWN),
    }),
    textColumn('ncu', 'ncu', 'minmax(160px, 2fr)', { optional: true, tip: 'profiles its longest launch with ncu' }),
  ];
}

function annotationColumns(rows: readonly KernelRow[]): Column<KernelRow>[] {
  const host = timeScale(rows.map((row) => row.total_ps));
  const device = timeScale(rows.map((row) => row.device_ps));
  const each = timeScale(rows.map((row) => row.p95_ps));
  const projected = timeScale(rows.map((row) => row.projected_max_ps));
  return [
    nameColumn('annotation'),
    countColumn,
    timeColumn('total_ps', 'host', host),
    timeColumn('self_ps', 'host self', host, { tip: 'less the annotations inside' }),
    timeColumn('device_ps', 'device', device, { tip: 'launched inside' }),
    timeColumn('device_self_ps', 'device self', device, {
      width: '108px',
      tip: 'launched inside, and inside no other annotation of it',
    }),
    shareColumn('device_share'),
    {
      key: 'launch_count',
      title: 'device ops',
      width: '96px',
      numeric: true,
      from: 900,
      cell: (row) => count(row.launch_count ?? 0),
    },
    timeColumn('projected_ps', 'projected', device, {
      from: 1100,
      tip: 'from the first op of the device to the last, of each',
    }),
    ...(['mean', 'min', 'p50', 'max', 'stdev'] as const).map((what) =>
      timeColumn(`projected_${what}_ps`, `projected ${what}`, projected, { optional: true, width: '128px' }),
    ),
    timeColumn('mean_ps', 'mean', each, { from: 1000 }),
    timeColumn('p95_ps', 'p95', each, { from: 1200 }),
  ];
}

function apiColumns(rows: readonly KernelRow[]): Column<KernelRow>[] {
  const all = timeScale(rows.map((row) => row.total_ps));
  const each = timeScale(rows.map((row) => row.p95_ps));
  return [
    nameColumn('api'),
    countColumn,
    timeColumn('total_ps', 'total', all),
    shareColumn('share'),
    timeColumn('mean_ps', 'mean', each),
    timeColumn('stdev_ps', 'stdev', each, { from: 1200 }),
    timeColumn('min_ps', 'min', each),
    timeColumn('p50_ps', 'p50', each),
    timeColumn('p95_ps', 'p95', each),
    timeColumn('max_ps', 'max', each),
  ];
}

function activityColumns(rows: readonly KernelRow[]): Column<KernelRow>[] {
  const each = timeScale(rows.map((row) => row.dur_ps));
  const waits = timeScale(rows.map((row) => row.queue_ps));
  const starts = timeScale(rows.map((row) => row.start_ps));
  const bytes = (
    key: 'bytes' | 'static_shared_bytes' | 'dynamic_shared_bytes',
    title: string,
    more: Partial<Column<KernelRow>>,
  ): Column<KernelRow> => ({
    key,
    title,
    width: '92px',
    numeric: true,
    cell: (row) => (row[key] === null || row[key] === undefined ? UNKNOWN : size(row[key])),
    exact: (row) => (row[key] === null ? why(row, key) : `${row[key]} bytes`),
    ...more,
  });
  return [
    timeColumn('start_ps', 'start', starts),
    timeColumn('dur_ps', 'duration', each),
    { key: 'what', title: 'what', width: '64px', cell: (row) => row.what ?? UNKNOWN },
    nameColumn('activity', rows),
    { key: 'device', title: 'device', width: '64px', numeric: true, from: 900, cell: (row) => row.device ?? UNKNOWN },
    textColumn('stream', 'stream', '128px', { from: 1000 }),
    textColumn('grid', 'grid', '92px', { numeric: true, from: 1100 }),
    textColumn('block', 'block', '84px', { numeric: true, from: 1100 }),
    bytes('bytes', 'moved', rows.some((row) => row.bytes !== null) ? { from: 1000 } : { optional: true }),
    {
      key: 'bytes_per_s',
      title: 'rate',
      width: '96px',
      numeric: true,
      ...(rows.some((row) => row.bytes_per_s !== null) ? { from: 1240 } : { optional: true }),
      cell: (row) =>
        row.bytes_per_s === null || row.bytes_per_s === undefined ? UNKNOWN : `${size(row.bytes_per_s)}/s`,
      exact: (row) => why(row, 'bytes_per_s'),
    },
    textColumn(
      'direction',
      'direction',
      '84px',
      rows.some((row) => row.direction) ? { from: 1400 } : { optional: true },
    ),
    textColumn('memory', 'host memory', '96px', { optional: true }),
    timeColumn('queue_ps', 'queue', waits, { from: 900, tip: 'from the end of its launch to its start' }),
    textColumn('call', 'call', 'minmax(120px, 1fr)', { optional: true }),
    timeColumn('call_ps', 'call took', waits, { optional: true }),
    timeColumn('call_start_ps', 'call at', starts, { optional: true }),
    timeColumn('launch_to_end_ps', 'call to end', waits, { optional: true }),
    {
      key: 'registers',
      title: 'registers',
      width: '80px',
      numeric: true,
      optional: true,
      cell: (row) => row.registers ?? UNKNOWN,
    },
    bytes('static_shared_bytes', 'static shared', { optional: true }),
    bytes('dynamic_shared_bytes', 'dynamic shared', { optional: true }),
    {
      key: 'correlation',
      title: 'correlation',
      width: '96px',
      numeric: true,
      optional: true,
      cell: (row) => row.correlation ?? UNKNOWN,
    },
    textColumn('context', 'context', '80px', { optional: true }),
    textColumn('graph', 'graph', '72px', { optional: true }),
    textColumn('op', 'op', 'minmax(96px, 1fr)', { optional: true }),
  ];
}

function rangeColumns(rows: readonly KernelRow[]): Column<KernelRow>[] {
  const starts = timeScale(rows.map((row) => row.start_ps));
  const each = timeScale(rows.map((row) => row.dur_ps));
  const host = timeScale(rows.map((row) => row.range_ps));
  return [
    timeColumn('start_ps', 'start', starts, { tip: 'of the first op of a device that it launched' }),
    timeColumn('dur_ps', 'duration', each, { tip: 'to the end of the last one' }),
    nameColumn('range'),
    timeColumn('device_ps', 'device', each, { tip: 'time of the ops it launched' }),
    {
      key: 'launch_count',
      title: 'device ops',
      width: '96px',
      numeric: true,
      cell: (row) => count(row.launch_count ?? 0),
    },
    timeColumn('range_start_ps', 'on the host', starts, { from: 900 }),
    timeColumn('range_ps', 'took there', host, { from: 900 }),
    { key: 'level', title: 'level', width: '64px', numeric: true, from: 1000, cell: (row) => row.level ?? UNKNOWN },
    {
      key: 'child_count',
      title: 'children',
      width: '72px',
      numeric: true,
      from: 1200,
      cell: (row) => row.child_count ?? UNKNOWN,
    },
    textColumn('thread', 'thread', '128px', { from: 1240 }),
    textColumn('stack', 'stack', 'minmax(120px, 2fr)', { optional: true, cutFront: true }),
  ];
}

/* A kernel counts in each range around its launch. */
function pairColumns(rows: readonly KernelRow[]): Column<KernelRow>[] {
  const all = timeScale(rows.map((row) => row.total_ps));
  const each = timeScale(rows.map((row) => row.max_ps));
  return [
    textColumn('range', 'range', 'minmax(160px, 3fr)'),
    { ...nameColumn('kernel', rows), title: 'kernel' },
    {
      key: 'range_count',
      title: 'ranges',
      width: '72px',
      numeric: true,
      from: 1000,
      cell: (row) => row.range_count ?? UNKNOWN,
      exact: (row) => why(row, 'range_count'),
    },
    countColumn,
    timeColumn('total_ps', 'total', all, { sums: undefined }),
    timeColumn('inner_ps', 'innermost', all, {
      width: '108px',
      tip: 'where it is the innermost range; adds up to all kernels',
    }),
    timeColumn('mean_ps', 'mean', each),
    timeColumn('min_ps', 'min', each, { from: 1400 }),
    timeColumn('p50_ps', 'p50', each, { from: 1000 }),
    timeColumn('max_ps', 'max', each, { from: 1100 }),
    timeColumn('stdev_ps', 'stdev', each, { from: 1400 }),
  ];
}

const GROUPS = new Set([
  'range',
  'what',
  'stream',
  'direction',
  'thread',
  'op',
  'module',
  'scope',
  'source',
  'limited_by',
  'tensor_core',
]);

export function columnsOf(rows: readonly KernelRow[], by: string): Column<KernelRow>[] {
  const columns =
    by === 'activity'
      ? activityColumns(rows)
      : by === 'range'
        ? rangeColumns(rows)
        : by === 'range-kernel'
          ? pairColumns(rows)
          : by === 'annotation'
            ? annotationColumns(rows)
            : by === 'api'
              ? apiColumns(rows)
              : kernelColumns(rows, by);
  return columns.map((column) => ({ groups: GROUPS.has(column.key), ...column }));
}
