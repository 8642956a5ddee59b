/* SPDX-License-Identifier: Apache-2.0 */
/* How far each op is from the limits of its device: picture, roofs, and the table of ops with rates. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { opRestriction } from '../data/restriction';
import type { Roofline, RooflineRow, RunDetails } from '../data/types';
import { shortScope } from '../model/cut';
import {
  count,
  inScale,
  plural,
  rate,
  rateScale,
  share,
  shareCell,
  significant,
  timeExact,
  timeScale,
  toNumber,
  UNKNOWN,
} from '../model/numbers';
import { pointsOf, rooflineSentence } from '../model/roofline';
import { slicesOf } from '../ui/op_link';
import { sentenceCase } from '../model/sentence';
import { Link } from '../ui/link';
import { toOp } from '../ui/op_link';
import { Failed, Waiting } from '../ui/states';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, Prose, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';
import { RooflineChart } from './roofline_chart';

const ROWS_MAX = 5000;
const HEAVY_SHARE = 0.005;

function reason(row: RooflineRow, key: keyof RooflineRow): string | null {
  return row.reasons?.[key] ?? null;
}

function columnsOf(rows: readonly RooflineRow[], counted: string | null | undefined): Column<RooflineRow>[] {
  const self = timeScale(rows.map((row) => row.self_ps));
  const heavy = rows.filter((row) => (row.share ?? 0) >= HEAVY_SHARE);
  const some = heavy.length > 0 ? heavy : rows;
  const flops = rateScale(
    some.map((row) => row.flops_per_s),
    'FLOP/s',
  );
  const bytes = rateScale(
    some.map((row) => row.bytes_per_s),
    'B/s',
  );
  const hasPeak = rows.some((row) => row.peak_share !== null);
  const number = (
    key: 'intensity' | 'flops_per_s' | 'bytes_per_s',
    title: string,
    cell: (row: RooflineRow) => string,
    unit: string,
    from?: number,
  ): Column<RooflineRow> => ({
    key,
    title,
    width: '88px',
    numeric: true,
    cell,
    exact: (row) =>
      row[key] === null
        ? reason(row, key)
        : unit === 'FLOP/B'
          ? `${row[key]!.toPrecision(6)} FLOP/B`
          : rate(row[key]!, unit),
    ...(from === undefined ? {} : { from }),
  });
  const columns: (Column<RooflineRow> | false)[] = [
    {
      key: 'name',
      title: 'op',
      width: 'minmax(180px, 3fr)',
      indent: 16,
      exact: (row) => row.name,
      cell: (row) => (
        <span class={row.kind ? `kind-${row.kind}` : undefined}>
          {row.kind && <span class="swatch" data-tip={row.kind} />}
          <Link to={toOp({ name: row.name, module: row.module, by: 'op' }, counted)}>
            <Name text={row.name} />
          </Link>
        </span>
      ),
    },
    rows.some((row) => row.scope) && {
      key: 'scope',
      title: 'scope',
      groups: true,
      width: 'minmax(140px, 3fr)',
      cutFront: true,
      from: 900,
      exact: (row) => row.scope ?? reason(row, 'scope'),
      cell: (row) => (row.scope ? <Name text={shortScope(row.scope)} /> : UNKNOWN),
    },
    {
      key: 'type',
      title: 'type',
      groups: true,
      width: '64px',
      cell: (row) => row.type ?? UNKNOWN,
      exact: (row) => reason(row, 'type'),
    },
    {
      key: 'count',
      title: 'count',
      width: '72px',
      numeric: true,
      sums: count,
      from: 1000,
      cell: (row) => count(row.count),
    },
    {
      key: 'self_ps',
      title: 'self',
      unit: self.unit,
      width: '96px',
      numeric: true,
      sums: (sum) => inScale(sum, self),
      cell: (row) => inScale(row.self_ps, self),
      exact: (row) => timeExact(row.self_ps),
    },
    {
      key: 'share',
      title: 'share',
      width: '128px',
      numeric: true,
      sortable: false,
      sums: shareCell,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share,
    },
    number(
      'intensity',
      'FLOP/B',
      (row) =>
        row.intensity === null
          ? UNKNOWN
          : row.intensity === 0
            ? '0'
            : row.intensity < 0.01
              ? '<0.01'
              : significant(row.intensity),
      'FLOP/B',
    ),
    number('flops_per_s', flops.unit, (row) => inScale(row.flops_per_s, flops), 'FLOP/s'),
    number('bytes_per_s', bytes.unit, (row) => inScale(row.bytes_per_s, bytes), 'B/s'),
    hasPeak && {
      key: 'peak_share',
      title: 'of peak',
      width: '128px',
      numeric: true,
      cell: (row) => shareCell(row.peak_share),
      bar: (row) => Math.min(1, row.peak_share ?? 0),
      exact: (row) =>
        reason(row, 'peak_share') ?? `of the device’s peak for this work: ${rate(row.roof_flops_per_s ?? 0, 'FLOP/s')}`,
    },
    hasPeak && {
      key: 'bound_by',
      title: 'bound by',
      groups: true,
      width: '112px',
      from: 1400,
      cell: (row) => row.bound_by ?? UNKNOWN,
      exact: (row) => reason(row, 'bound_by'),
    },
  ];
  return columns.filter((column) => column !== false);
}

/* What stands on what: devices, what is not drawn, what is not believed. */
function basisOf(data: Roofline): string[] {
  const device = data.devices[0];
  const lines: string[] = [];
  const drawn = pointsOf(data.rows).length;
  const { program } = data;
  if (program.flops_per_s !== null && program.peak_share !== null)
    lines.push(
      `The program as a whole does ${rate(program.flops_per_s, 'FLOP/s')} ` +
        `and ${rate(program.bytes_per_s ?? 0, 'B/s')}, ${share(program.peak_share)} of the device’s peak.`,
    );
  const moving = data.rows.filter((row) => row.flops === 0 && (row.bytes ?? 0) > 0).length;
  if (drawn > 0 && moving > 0)
    lines.push(
      `${plural(moving, 'op')} only ${moving === 1 ? 'moves' : 'move'} bytes ` +
        `and ${moving === 1 ? 'stands' : 'stand'} in the table alone.`,
    );
  if (program.unknown_count > 0 && data.missing === null)
    lines.push(`FLOPs or bytes of ${plural(program.unknown_count, 'op')} are unknown.`);
  if (device && device.roofs.length === 0 && device.reason) lines.push(`No roof is drawn: ${device.reason}.`);
  return lines;
}

export function RooflineView({ run }: { run: RunDetails }) {
  const params = { run: run.id, ...opRestriction.value, sort: query.value.sort };
  const found = useJson<Roofline>('api/roofline', { ...params, limit: ROWS_MAX });
  const data = found.data;
  const rows = data?.rows ?? [];
  const table = useTable<RooflineRow>({
    columns: columnsOf(rows, data?.counted),
    rows,
    sort: '-self_ps',
    also: { kind: (row) => row.kind, flops: (row) => row.flops, bytes: (row) => row.bytes },
  });
  const doubts = [...new Set((data?.devices ?? []).flatMap((device) => (device.doubt ? [device.doubt] : [])))];
  const kinds = [...new Set((data?.devices ?? []).map((device) => device.name ?? 'Device of unknown kind'))];
  const links = [
    ...new Set(
      (data?.devices ?? []).flatMap((device) =>
        device.links
          .filter((link) => link.bytes_per_s !== null)
          .map((link) => `${link.name!} ${rate(link.bytes_per_s!, 'B/s')}`),
      ),
    ),
  ];
  return (
    <>
      {data && <SentenceLine sentence={rooflineSentence(data)} />}
      {data && data.missing === null && (
        <p class="basis">
          {[
            `${kinds.join(', ')}.`,
            ...basisOf(data),
            links.length > 0 ? `Links carry, one way: ${links.join(', ')}.` : '',
          ]
            .filter((line) => line !== '')
            .join(' ')}
        </p>
      )}
      {doubts.map((doubt) => (
        <p key={doubt} class="basis warn">
          {sentenceCase(doubt)}
        </p>
      ))}
      {found.error && <Failed error={found.error} />}
      {!data && found.waiting && <Waiting what="Counting." progress={found.progress} />}
      {data && data.missing !== null && (
        <p class="state">
          {'No op has FLOPs: '}
          <Prose text={data.missing} />.
        </p>
      )}
      {data && data.missing === null && pointsOf(rows).length > 0 && (
        <RooflineChart data={data} focused={query.value.key ?? null} />
      )}
      {data && rows.length > 0 && data.missing === null && (
        <>
          <TableBar
            table={table}
            noun="op"
            total={data.row_count}
            example="scope:mlp type=bf16 flops>1G"
            file={`${run.name}-roofline`}
            csv={address('api/roofline', { ...params, limit: 10_000, format: 'csv' })}
          />
          <TableBelow
            table={table}
            total={data.row_count}
            label="Ops and their rates"
            rowKey={(row) => row.key}
            focused={query.value.key ?? null}
            onFocusRow={(row) => go({ key: row.key }, 'replace')}
            onOpen={(row) => go(toOp({ name: row.name, module: row.module, by: 'op' }, data.counted), 'push')}
            onShow={(row) =>
              go(slicesOf({ name: row.name, module: row.module, by: 'op' }, query.value, data.counted), 'push')
            }
            openOn="enter"
            weight={(row) => toNumber(row.self_ps)}
            scroll
          />
        </>
      )}
    </>
  );
}
