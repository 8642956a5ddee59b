/* SPDX-License-Identifier: Apache-2.0 */
/* What devices say to each other: sentence, table, and who came when for the collective in focus. */
import { useMemo, useState } from 'preact/hooks';
import { address } from '../../data/api';
import type { Arrival, ArrivalTable, CollectiveRow, CollectiveTable } from '../../data/collectives';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import { KINDS, type RunDetails } from '../../data/types';
import { arrivalAt, arrivalHeight, arrivalPlace, paintArrivals } from '../../draw/arrivals';
import { readTokens } from '../../draw/tokens';
import { formatSpan } from '../../model/address';
import { shown } from '../../model/cut';
import { slicesOfOp } from '../../model/search';
import { collectivesSentence, executionsWords, laneOf, lanesOf, turnsOf, turnWords } from '../../model/collectives';
import {
  count,
  inScale,
  rateScale,
  shareCell,
  sizeScale,
  time,
  timeExact,
  timeScale,
  toBig,
  toNumber,
  UNKNOWN,
} from '../../model/numbers';
import { By } from '../../ui/by';
import { Canvas } from '../../ui/canvas';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { hideTip, showTip } from '../../ui/tooltip';
import { useTable } from '../../ui/use_table';

const BY = ['op', 'kind', 'axis', 'size', 'group', 'device', 'host'] as const;
const ROWS_MAX = 10_000;
const LANES_MAX = 64;
const TURNS_MAX = 6;
const COMMUNICATION = KINDS.indexOf('communication');

function algorithmOf(row: CollectiveRow): string {
  return [row.algorithm, row.protocol].filter((word) => word !== null).join(' ') || UNKNOWN;
}

function columnsOf(rows: readonly CollectiveRow[], exposedPs: number, by: string): Column<CollectiveRow>[] {
  const total = timeScale(rows.map((row) => row.total_ps));
  const each = timeScale(rows.map((row) => row.mean_ps));
  const bytes = sizeScale(rows.map((row) => row.bytes));
  const rates = rateScale(
    rows.flatMap((row) => [row.bus_bytes_per_s, row.moving_bus_bytes_per_s]),
    'B/s',
  );
  const known = (key: keyof CollectiveRow) => rows.some((row) => row[key] !== null);
  const why = (row: CollectiveRow, key: keyof CollectiveRow) => row.reasons[key] ?? null;
  const columns: (Column<CollectiveRow> | false)[] = [
    {
      key: 'name',
      title: by,
      width: 'minmax(140px, 2fr)',
      exact: (row) => row.name ?? why(row, 'name'),
      cell: (row) =>
        row.name === null ? (
          UNKNOWN
        ) : by === 'op' ? (
          <Link to={{ view: 'timeline', find: slicesOfOp(row.name, null), slice: row.longest }}>
            <Name text={row.name} />
          </Link>
        ) : (
          <Name text={row.name} />
        ),
    },
    by === 'op' && {
      key: 'kind',
      title: 'kind',
      groups: true,
      width: 'minmax(128px, 1fr)',
      from: 1440,
      cell: (row) => row.kind ?? UNKNOWN,
    },
    by !== 'axis' &&
      known('axis') && {
        key: 'axis',
        title: 'group',
        groups: true,
        width: 'minmax(148px, 1fr)',
        cell: (row) => (row.axis === null ? UNKNOWN : <Name text={row.axis} />),
        exact: (row) => row.members ?? row.axis ?? why(row, 'axis'),
      },
    known('bytes') && {
      key: 'bytes',
      title: 'size',
      sums: (sum) => inScale(sum, bytes),
      unit: bytes.unit,
      width: '88px',
      numeric: true,
      tip: 'Of one, as nccl-tests counts it',
      cell: (row) => inScale(row.bytes, bytes),
      exact: (row) => (row.bytes === null ? why(row, 'bytes') : `${count(row.bytes)} B`),
    },
    known('algorithm') && {
      key: 'algorithm',
      title: 'algorithm',
      groups: true,
      width: '96px',
      from: 1100,
      cell: algorithmOf,
      exact: (row) => why(row, 'algorithm'),
    },
    {
      key: 'count',
      title: 'count',
      width: '72px',
      numeric: true,
      sums: count,
      tip: 'Executions on devices',
      cell: (row) => count(row.count),
    },
    {
      key: 'total_ps',
      title: 'total',
      unit: total.unit,
      width: '88px',
      numeric: true,
      sums: (sum) => inScale(sum, total),
      cell: (row) => inScale(row.total_ps, total),
      exact: (row) => timeExact(row.total_ps),
    },
    {
      key: 'mean_ps',
      title: 'mean',
      unit: each.unit,
      width: '88px',
      numeric: true,
      from: 1200,
      cell: (row) => inScale(row.mean_ps, each),
      exact: (row) => timeExact(row.mean_ps),
    },
    {
      key: 'exposed_ps',
      title: 'exposed',
      unit: total.unit,
      width: '144px',
      numeric: true,
      sums: (sum) => inScale(sum, total),
      tip: 'While its device did not compute',
      cell: (row) => inScale(row.exposed_ps, total),
      bar: (row) => toNumber(row.exposed_ps) / exposedPs, // of one whole, so that bars of groups add up
      exact: (row) => `${timeExact(row.exposed_ps)}, ${shareCell(row.exposed_share)}`,
    },
    known('wait_ps') && {
      key: 'wait_ps',
      title: 'waits',
      unit: total.unit,
      width: '88px',
      numeric: true,
      sums: (sum) => inScale(sum, total),
      tip: 'For the last device',
      cell: (row) => inScale(row.wait_ps, total),
      exact: (row) => (row.wait_ps === null ? why(row, 'wait_ps') : timeExact(row.wait_ps)),
    },
    known('last') && {
      key: 'last',
      title: 'last device',
      groups: true,
      width: 'minmax(136px, 1fr)',
      from: 1000,
      cell: (row) => (row.last === null ? UNKNOWN : <Name text={row.last} />),
      exact: (row) => (row.last_share === null ? why(row, 'last') : `in ${shareCell(row.last_share)} of executions`),
    },
    known('bus_bytes_per_s') && {
      key: 'bus_bytes_per_s',
      title: 'bus',
      unit: rates.unit,
      width: '88px',
      numeric: true,
      tip: 'Bus bandwidth of nccl-tests, over the whole time',
      cell: (row) => inScale(row.bus_bytes_per_s, rates),
      exact: (row) => why(row, 'bus_bytes_per_s'),
    },
    known('moving_bus_bytes_per_s') && {
      key: 'moving_bus_bytes_per_s',
      title: 'bus without waits',
      unit: rates.unit,
      width: '112px',
      numeric: true,
      from: 1400,
      tip: 'The same, without waiting time',
      cell: (row) => inScale(row.moving_bus_bytes_per_s, rates),
      exact: (row) => why(row, 'moving_bus_bytes_per_s'),
    },
  ];
  return columns.filter((column) => column !== false);
}

function Tip({ row, lane, turn }: { row: Arrival; lane: string; turn: string }) {
  return (
    <>
      <strong>
        {lane}, execution {turn}: {time(row.dur_ps)}
      </strong>
      {row.wait_ps !== null && <div>{row.last ? 'came last' : `waits ${time(row.wait_ps)} for the last device`}</div>}
      {row.late_ps !== null && toNumber(row.late_ps) > 0 && <div>came {time(row.late_ps)} after the first</div>}
    </>
  );
}

/* Small multiples: an execution each, time to the right, a lane a device. */
function Arrivals({ run, name, module }: { run: RunDetails; name: string; module: string | null }) {
  const [width, setWidth] = useState(0);
  const [chosen, choose] = useState<number | null>(null); // lane after lane, while keys walk there
  const reply = useJson<ArrivalTable>('api/collectives', {
    run: run.id,
    ...restriction.value,
    name,
    ...(module === null ? {} : { module }),
    view: 'arrivals',
    limit: ROWS_MAX,
  });
  const rows = reply.data?.rows ?? [];
  const hosts = useMemo(() => new Set(rows.map((row) => row.host)).size, [rows]);
  const all = useMemo(() => turnsOf(rows, Infinity), [rows]);
  const turns = useMemo(() => turnsOf(rows, TURNS_MAX), [rows]);
  const lane = (row: Arrival): string => shown(laneOf(row, hosts));
  const lanes = useMemo(
    () =>
      lanesOf(
        turns.flatMap((turn) => turn.arrivals),
        lane,
      ).slice(0, LANES_MAX),
    [turns, hosts],
  );
  const groups = new Set(turns.map((turn) => turn.group)).size;
  if (reply.error) return <Failed error={reply.error} />;
  if (turns.length === 0) return null;
  const scene = { lanes, turns, width };
  const cells = lanes.length * turns.length;
  const at = Math.min(chosen ?? 0, cells - 1);
  const place = (index: number) => ({ lane: Math.floor(index / turns.length), turn: index % turns.length });
  const rowOf = (index: number): Arrival | undefined =>
    turns[place(index).turn]!.arrivals.find((one) => lane(one) === lanes[place(index).lane]);
  const wordsOf = (index: number): string => {
    const row = rowOf(index);
    const wait = row === undefined || row.wait_ps === null ? '' : `, waits ${time(row.wait_ps)}`;
    const what = row === undefined ? 'not recorded' : `${time(row.dur_ps)}${row.last ? ', came last' : wait}`;
    return `${lanes[place(index).lane]}, execution ${turnWords(turns[place(index).turn]!, groups)}: ${what}`;
  };
  const goTo = (row: Arrival): void => {
    hideTip();
    const start = toBig(row.start_ps);
    const size = toBig(row.dur_ps);
    go({
      view: 'timeline',
      slice: row.slice,
      window: formatSpan({ start: start - size / 4n, end: start + size + size / 4n }),
    });
  };
  const found = (x: number, y: number): { row: Arrival; turn: string } | null => {
    const at = arrivalAt(scene, x, y);
    const turn = at && turns[at.turn]!;
    const row = turn && turn.arrivals.find((one) => lane(one) === lanes[at.lane]);
    return row ? { row, turn: turnWords(turn, groups) } : null;
  };
  return (
    <figure class="arrivals">
      <figcaption class="basis">
        <Name text={name} />: {executionsWords(turns.length, all.length)}
        {turns.length > 1 ? ' on one scale; the longest takes ' : ' of '}
        {time(Math.max(...turns.map((turn) => turn.length)))}. Pale: waits for the last device.
      </figcaption>
      <Canvas
        height={arrivalHeight(lanes.length)}
        label={`Arrival times in ${turns.length} executions of ${shown(name)}; the same figures are in the table`}
        onSize={setWidth}
        slider={{
          at,
          count: cells,
          across: turns.length,
          words: wordsOf(at),
          onKey: (index, box) => {
            choose(index);
            const row = rowOf(index);
            const { x, y } = arrivalPlace(scene, place(index).turn, place(index).lane);
            const turn = turnWords(turns[place(index).turn]!, groups);
            if (row) showTip(<Tip row={row} lane={lane(row)} turn={turn} />, box.left + x, box.top + y);
            else hideTip();
          },
          onEnter: () => {
            const row = rowOf(at);
            if (row) goTo(row);
          },
        }}
        paint={(canvas, wide) =>
          paintArrivals(canvas, {
            lanes,
            laneOf: lane,
            turns,
            groups,
            chosen: chosen === null ? null : place(at),
            width: wide,
            ratio: devicePixelRatio,
            tokens: readTokens(),
            kind: COMMUNICATION,
          })
        }
        onMove={(x, y, event) => {
          const one = found(x, y);
          if (one === null) hideTip();
          else showTip(<Tip row={one.row} lane={lane(one.row)} turn={one.turn} />, event.clientX, event.clientY);
        }}
        onLeave={() => {
          choose(null);
          hideTip();
        }}
        onClick={(x, y) => {
          const one = found(x, y);
          if (one !== null) goTo(one.row);
        }}
      />
    </figure>
  );
}

export function CollectivesTable({ run }: { run: RunDetails }) {
  const asked = query.value.collectives ?? 'op';
  const by = (BY as readonly string[]).includes(asked) ? asked : 'op';
  const sort = /^-?[a-z_]+(,-?[a-z_]+)*$/.test(query.value.collectives_sort ?? '')
    ? query.value.collectives_sort!
    : undefined;
  const params = { run: run.id, ...restriction.value, by };
  const reply = useJson<CollectiveTable>('api/collectives', { ...params, sort, limit: ROWS_MAX });
  const rows = reply.data?.rows ?? [];
  const table = useTable<CollectiveRow>({
    columns: columnsOf(rows, Math.max(1, toNumber(reply.data?.exposed_ps ?? 0)), by),
    rows,
    sort: '-exposed_ps',
    prefix: 'collectives_',
    also: { module: (row) => row.module },
  });
  if (reply.error) return <Failed error={reply.error} />;
  if (!reply.data) return reply.waiting ? <Waiting what="Matching collectives." progress={reply.progress} /> : null;
  if (rows.length === 0) return null;
  const focused = rows.find((row) => row.name === query.value.collective) ?? rows[0]!;
  const clocks = reply.data.notes.filter((note) => note.kind.startsWith('clock-skew') || note.kind.startsWith('waits'));
  return (
    <section class="collectives" aria-label="Collectives">
      <h2 class="section">Collectives</h2>
      <SentenceLine sentence={collectivesSentence(reply.data)} />
      {clocks.map((note) => (
        <p class="basis" key={`${note.kind} ${note.host ?? ''}`}>
          {note.host
            ? `${shown(note.host)}: ${note.message}`
            : `${note.message.slice(0, 1).toUpperCase()}${note.message.slice(1)}`}
          .
        </p>
      ))}
      {by === 'op' && focused.name !== null && <Arrivals run={run} name={focused.name} module={focused.module} />}
      <TableBar
        table={table}
        noun={by === 'axis' ? 'group' : by}
        total={reply.data.row_count}
        example="all-reduce exposed>1ms"
        file={`${run.name}-collectives`}
        csv={address('api/collectives', { ...params, limit: ROWS_MAX, format: 'csv' })}
      >
        <By
          value={by}
          words={BY}
          onChoose={(word) =>
            go(
              { collectives: word, collectives_sort: null, collectives_group: null, collectives_columns: null },
              'push',
            )
          }
        />
      </TableBar>
      <TableBelow
        table={table}
        total={reply.data.row_count}
        label="Collectives"
        rowKey={(row) => `${row.name} ${row.module} ${row.bytes} ${row.longest}`}
        weight={(row) => toNumber(row.exposed_ps)}
        onFocusRow={(row) => row.name !== null && by === 'op' && go({ collective: row.name }, 'replace')}
      />
    </section>
  );
}
