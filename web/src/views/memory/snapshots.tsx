/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: whose bytes were allocated when each was taken, and what changed between two. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import type { FindingList } from '../../data/findings';
import { useJson } from '../../data/resource';
import type { FlameReply, RunDetails } from '../../data/types';
import { amountOf, asWidths, signedIn, type Amount } from '../../model/amount';
import { shortSource } from '../../model/cut';
import { findPath, layoutFlame, pathOf } from '../../model/flame_layout';
import { foldLibraries } from '../../model/pictures/flame_libraries';
import { count, inScale, plural, share, shareCell, toNumber, UNKNOWN } from '../../model/numbers';
import { named as nameOf, strong, type Sentence } from '../../model/sentence';
import { Link } from '../../ui/link';
import { Empty, Failed, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, Prose, SentenceLine } from '../../ui/text';
import { useTable, type TableState } from '../../ui/use_table';
import { Graph } from '../flame/graph';

interface SampleType {
  name: string;
  unit: string;
  total: number;
}

interface Snapshot {
  name: string;
  taken_at: string | null;
  sample_count: number;
  types: SampleType[];
}

interface Row {
  name: string | null;
  source: string | null;
  device: string | null;
  kind: string | null;
  value: number;
  share: number | null;
  count: number;
  base_value?: number;
  delta?: number;
  base_count?: number;
  reasons: Record<string, string>;
}

interface Reply {
  order: 'time' | 'name';
  snapshots: Snapshot[];
  snapshot: string | null;
  base: string | null;
  type: string;
  unit: string;
  total: number;
  base_total: number | null;
  rows: Row[];
  row_count: number;
  reasons: Record<string, string>;
}

const BY = ['owner', 'function', 'source', 'frame', 'device', 'kind'];
const ROWS_MAX = 5000;
const WIDTH_MAX = 4000; // nodes of the graph

function columnsOf(reply: Reply, by: string, amount: Amount): Column<Row>[] {
  const { rows } = reply;
  const values = amount.scale(rows.map((row) => row.value));
  const deltas = amount.scale(rows.map((row) => row.delta));
  const text = (key: 'device' | 'kind', width: string): Column<Row> => ({
    key,
    title: key,
    groups: true,
    width,
    exact: (row) => row[key] ?? row.reasons[key] ?? null,
    cell: (row) => (row[key] === null ? UNKNOWN : <Name text={row[key]} />),
  });
  const columns: (Column<Row> | false)[] = [
    {
      key: 'name',
      title: by,
      width: 'minmax(160px, 3fr)',
      exact: (row) => row.name ?? row.reasons.name ?? null,
      cell: (row) => (row.name === null ? UNKNOWN : <Name text={by === 'source' ? shortSource(row.name) : row.name} />),
    },
    (by === 'owner' || by === 'frame') && {
      key: 'source',
      title: 'source',
      groups: true,
      width: 'minmax(120px, 2fr)',
      exact: (row) => row.source ?? row.reasons.source ?? null,
      cell: (row) => (row.source === null ? UNKNOWN : <Name text={shortSource(row.source)} mono />),
    },
    by === 'owner' && rows.some((row) => row.device !== null) && text('device', 'minmax(96px, 2fr)'),
    by === 'owner' && rows.some((row) => row.kind !== null) && text('kind', 'minmax(80px, 120px)'),
    {
      key: 'value',
      title: amount.title,
      unit: values.unit,
      width: '112px',
      numeric: true,
      sums: (sum) => inScale(sum, values),
      cell: (row) => inScale(row.value, values),
      exact: (row) => amount.exact(row.value),
    },
    reply.base !== null && {
      key: 'base_value',
      title: 'before',
      unit: values.unit,
      width: '112px',
      numeric: true,
      sums: (sum) => inScale(sum, values),
      cell: (row) => inScale(row.base_value, values),
      exact: (row) => amount.exact(row.base_value ?? 0),
    },
    reply.base !== null && {
      key: 'delta',
      title: 'change',
      unit: deltas.unit,
      width: '120px',
      numeric: true,
      sums: (sum) => signedIn(sum, deltas),
      cell: (row) => signedIn(row.delta ?? 0, deltas),
      exact: (row) => amount.exact(row.delta ?? 0),
    },
    { key: 'count', title: 'count', width: '88px', numeric: true, sums: count, cell: (row) => count(row.count) },
    {
      key: 'share',
      title: 'share',
      width: '144px',
      numeric: true,
      sums: shareCell,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share, // of one whole, so that bars of owners add up
    },
  ];
  return columns.filter((column) => column !== false);
}

/* What one line holds on several devices is one row that opens; null: nothing is. */
function foldOf(rows: readonly Row[], by: string): ((row: Row) => string) | null {
  if (by !== 'owner') return null;
  const keyOf = (row: Row): string => [row.name, row.source, row.kind].join('\n');
  const alike = new Map<string, number>();
  for (const row of rows) alike.set(keyOf(row), (alike.get(keyOf(row)) ?? 0) + 1);
  if (![...alike.values()].some((rowCount) => rowCount > 1)) return null;
  return (row) => {
    const place = row.source === null ? '' : ` ${shortSource(row.source)}`;
    return `${row.name ?? UNKNOWN}${place}${row.kind === null ? '' : `, ${row.kind}`}`;
  };
}

function sumBy(rows: readonly Row[], key: (row: Row) => string | null): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) if (key(row) !== null) sums.set(key(row)!, (sums.get(key(row)!) ?? 0) + row.value);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/* "3.39 GiB are allocated: executables 62 %, buffers 38 %; most of it by poisson_solver." */
function sentenceOf(reply: Reply, amount: Amount): Sentence {
  /* One owner may stand in several rows: a device, a line each. */
  const [top] = sumBy(reply.rows, (row) => row.name);
  const kinds = sumBy(reply.rows, (row) => row.kind).filter(
    ([, value]) => reply.total > 0 && value / reply.total >= 0.05,
  );
  const sentence: Sentence = [
    strong(amount.say(reply.total)),
    amount.unit === 'bytes' ? ' are allocated' : ` of ${reply.type}`,
  ];
  if (reply.base !== null && reply.base_total !== null) {
    const change = reply.total - reply.base_total;
    return [
      ...sentence,
      change === 0 ? ', as many as in ' : `, ${amount.say(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than in `,
      nameOf(reply.base),
      '.',
    ];
  }
  if (kinds.length > 0)
    sentence.push(': ', kinds.map(([kind, value]) => `${kind}s ${share(value / reply.total)}`).join(', '));
  if (top && reply.total > 0) sentence.push(`; ${nameOf(top[0])} has ${share(top[1] / reply.total)}`);
  return [...sentence, '.'];
}

function basisOf(reply: Reply): string {
  const one = reply.snapshots.find((snapshot) => snapshot.name === reply.snapshot)!;
  const order =
    reply.snapshots.length < 2
      ? ''
      : reply.order === 'time'
        ? ''
        : ' The files do not record when they were taken: they are in the order of their names.';
  const taken = one.taken_at === null ? '' : `, taken ${one.taken_at.replace('T', ' ').replace('Z', ' UTC')}`;
  return `${one.name}: ${plural(one.sample_count, 'sample')}${taken}.${order}`;
}

function totalOf(snapshot: Snapshot, type: string, unit: Amount): string {
  const found = snapshot.types.find((one) => one.name === type);
  return found && unit.unit === 'bytes' ? ` (${unit.say(found.total)})` : '';
}

function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoose: (value: string) => void;
}) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Tools({
  run,
  reply,
  by,
  amount,
  table,
}: {
  run: RunDetails;
  reply: Reply;
  by: string;
  amount: Amount;
  table: TableState<Row>;
}) {
  const names = reply.snapshots.map((one) => [one.name, `${one.name}${totalOf(one, reply.type, amount)}`] as const);
  const types = reply.snapshots.find((one) => one.name === reply.snapshot)!.types;
  const folded = { run: run.id, by: 'stack', snapshot: reply.snapshot!, type: reply.type, format: 'folded' };
  return (
    <TableBar
      table={table}
      noun={by}
      total={reply.row_count}
      example="solver size>1MiB"
      file={run.name}
      csv={address('api/memory', {
        run: run.id,
        view: 'pprof',
        snapshot: reply.snapshot!,
        type: reply.type,
        by,
        limit: 10_000,
        format: 'csv',
        ...(reply.base ? { base: reply.base } : {}),
      })}
    >
      {names.length > 1 && (
        <Choice
          label="snapshot"
          value={reply.snapshot!}
          options={names}
          onChoose={(snapshot) => go({ snapshot, zoom: null }, 'push')}
        />
      )}
      {names.length > 1 && (
        <Choice
          label="against"
          value={reply.base ?? ''}
          options={[['', 'none'], ...names.filter(([name]) => name !== reply.snapshot)]}
          onChoose={(base) => go({ base: base || 'none', sort: null }, 'push')}
        />
      )}
      <Choice
        label="by"
        value={by}
        options={BY.map((one) => [one, one] as const)}
        onChoose={(one) => go({ by: one === 'owner' ? null : one, sort: null, group: null }, 'push')}
      />
      {types.length > 1 && (
        <Choice
          label="of"
          value={reply.type}
          options={types.map((one) => [one.name, one.name] as const)}
          onChoose={(type) => go({ type, zoom: null }, 'push')}
        />
      )}
      <a href={address('api/flame', folded)} download={`${run.name}.folded`}>
        folded
      </a>
    </TableBar>
  );
}

function Bytes({ run, reply, amount }: { run: RunDetails; reply: Reply; amount: Amount }) {
  const flame = useJson<FlameReply>('api/flame', {
    run: run.id,
    by: 'stack',
    snapshot: reply.snapshot!,
    type: reply.type,
    limit: WIDTH_MAX,
  });
  const isFolded = query.value.libraries !== 'shown';
  const layout = useMemo(() => {
    if (!flame.data?.root) return null;
    const root = asWidths(flame.data.root);
    return layoutFlame(isFolded ? foldLibraries(root) : root, amount);
  }, [flame.data, isFolded]);
  if (flame.error) return <Failed error={flame.error} />;
  if (!layout || toNumber(layout.nodes[0]!.total_ps) <= 0) return null;
  const zoom = findPath(layout, query.value.zoom ?? '');
  const path: number[] = [];
  for (let at = zoom; at >= 0; at = layout.parent[at]!) path.unshift(at);
  return (
    <>
      <nav class="crumbs" aria-label="Zoomed to">
        {path.map((index, at) => (
          <>
            {at > 0 && <span class="faint"> / </span>}
            <Link to={{ zoom: index === 0 ? null : pathOf(layout, index) }} current={index === zoom}>
              {index === 0 ? 'all' : <Name text={layout.nodes[index]!.name} />}
            </Link>
          </>
        ))}
        <label class="snapshot-libraries" data-tip="Frames of installed packages, each package as one">
          <input
            type="checkbox"
            checked={isFolded}
            onChange={(event) => go({ libraries: event.currentTarget.checked ? null : 'shown', zoom: null }, 'replace')}
          />{' '}
          fold libraries
        </label>
      </nav>
      <Graph
        layout={layout}
        zoom={zoom}
        focus={zoom > 0 ? zoom : null}
        lit={null}
        label={`Flame graph of ${reply.snapshot} by stack`}
        onFocus={(index) => go({ zoom: pathOf(layout, index) || null }, 'replace')}
        onZoom={(index) => go({ zoom: index === 0 ? null : pathOf(layout, index) })}
      />
    </>
  );
}

/* What grew from one to the next: a run of snapshots alone has no overview that would say it. */
function Grown({ grown }: { grown: FindingList['rows'] }) {
  return (
    <>
      {grown.map((finding) => (
        <p key={finding.rank}>
          {finding.text}{' '}
          <span class="quiet">
            <Prose text={finding.remedy} />
          </span>
        </p>
      ))}
    </>
  );
}

export function SnapshotsView({ run, nav }: { run: RunDetails; nav: ComponentChildren }) {
  const by = BY.includes(query.value.by ?? '') ? query.value.by! : 'owner';
  const chosen = Object.fromEntries(
    ['snapshot', 'base', 'type'].flatMap((key) => (query.value[key] ? [[key, query.value[key]!]] : [])),
  );
  const found = useJson<FindingList>('api/findings', { run: run.id, limit: 20 });
  const grown = found.data?.rows.filter((finding) => finding.rule === 'memory-leak') ?? [];
  const isTold = found.data !== null || found.error !== null;
  /* Where something grew, it opens with that: the last snapshot that the finding names less the first. */
  const list = useJson<Reply>(isTold && grown.length > 0 ? 'api/memory' : null, {
    run: run.id,
    view: 'pprof',
    by,
    limit: 1,
  });
  const opensGrown = grown.length > 0 && chosen.snapshot === undefined && query.value.base === undefined;
  const named = (list.data?.snapshots ?? []).filter((one) => grown[0]?.text.includes(one.name));
  const opening = opensGrown && named.length > 1 ? { base: named[0]!.name, snapshot: named.at(-1)!.name } : {};
  const isReady = isTold && (!opensGrown || list.data !== null || list.error !== null);
  const memory = useJson<Reply>(isReady ? 'api/memory' : null, {
    run: run.id,
    view: 'pprof',
    by,
    limit: ROWS_MAX,
    sort: query.value.sort,
    ...opening,
    ...chosen,
    ...(chosen.base === 'none' ? { base: null } : {}),
  });
  const amount = amountOf(memory.data?.unit ?? 'bytes');
  const rows = memory.data?.rows ?? [];
  const table = useTable<Row>({
    columns: memory.data ? columnsOf(memory.data, by, amount) : [],
    rows,
    sort: memory.data?.base ? '-delta' : '-value',
    foldOf: foldOf(rows, by),
  });
  if (memory.error) return <Failed error={memory.error} />;
  if (!memory.data)
    return memory.waiting ? <Waiting what="Adding up the snapshots." progress={memory.progress} /> : null;
  const reply = memory.data;
  if (reply.snapshot === null)
    return (
      <Empty copy='jax.profiler.save_device_memory_profile("memory.prof")'>
        This run holds no snapshots. To save one:{' '}
      </Empty>
    );
  return (
    <div class="snapshots">
      <SentenceLine sentence={sentenceOf(reply, amount)} />
      {nav}
      <p class="basis">{basisOf(reply)}</p>
      {reply.snapshots.length > 1 && <Grown grown={grown} />}
      <Tools run={run} reply={reply} by={by} amount={amount} table={table} />
      <TableBelow
        table={table}
        total={reply.row_count}
        label={`Samples of ${reply.snapshot} by ${by}`}
        rowKey={(row) => `${row.name}\n${row.source}\n${row.device}\n${row.kind}`}
        weight={(row) => (reply.base === null ? row.value : (row.delta ?? 0))}
        scroll
      />
      <Bytes run={run} reply={reply} amount={amount} />
    </div>
  );
}
