/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the compiler planned for a module: over its program, and who is in it where. */
import type { ComponentChildren } from 'preact';
import { address } from '../../data/api';
import type { HloList } from '../../data/hlo';
import type { HeapReply, HeapRow } from '../../data/memory';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunDetails } from '../../data/types';
import { shortSource } from '../../model/cut';
import { count, inScale, share, shareCell, size, sizeScale, toNumber, UNKNOWN } from '../../model/numbers';
import { named, sentenceCase, strong, type Sentence } from '../../model/sentence';
import { Link } from '../../ui/link';
import { Empty, Failed, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { useTable, type TableState } from '../../ui/use_table';
import { HeapChart } from './heap_chart';

const ROWS_MAX = 5000;
const MODULES_MAX = 1000;

/* "jit_step needs 14.0 MiB at most, at dot.63: 12.1 MiB of it temporary, 1.88 MiB in and out." */
function sentenceOf(reply: HeapReply): Sentence {
  const sentence: Sentence = [`${named(reply.module!)} needs `, strong(size(reply.peak_bytes)), ' at most'];
  if (reply.peak_instruction !== null) sentence.push(`, at ${named(reply.peak_instruction)}`);
  const temporary = reply.peak_bytes - reply.fixed_bytes;
  if (temporary > 0)
    sentence.push(
      ': ',
      strong(size(temporary)),
      ' temporary, ',
      size(reply.fixed_bytes),
      ' for inputs, outputs and constants',
    );
  return [...sentence, '.'];
}

const BASIS: Record<HeapReply['basis'], string> = {
  'heap-trace': "From the compiler's own simulation",
  'live-ranges': 'The file holds no simulation: buffers are taken to live from their definition to their last use',
  sizes: 'Nothing is temporary',
};

function basisOf(reply: HeapReply): string {
  const parts = [
    `${size(reply.total_allocation_bytes)} in all allocations (parameters ${size(reply.parameter_bytes)}, ` +
      `outputs ${size(reply.output_bytes)}, constants ${size(reply.constant_bytes)}, ` +
      `temporary ${size(reply.temporary_bytes)})`,
    reply.padding_bytes > 0 && `${size(reply.padding_bytes)} of the peak are padding`,
    reply.rematerialise_bytes > 0 &&
      `up to ${size(reply.rematerialise_bytes)} (${share(reply.rematerialise_bytes / reply.peak_bytes)}) ` +
        'could be computed again',
    reply.donation_bytes > 0 && `up to ${size(reply.donation_bytes)} of outputs could take the memory of inputs`,
  ];
  return `${BASIS[reply.basis]}. ${parts.filter((part) => part !== false).join('; ')}.`;
}

function columnsOf(module: string, rows: readonly HeapRow[]): Column<HeapRow>[] {
  const sizes = sizeScale(rows.map((row) => row.bytes));
  const advice = (row: HeapRow): string | null => (row.reuse !== null ? `could take ${row.reuse}` : row.rematerialise);
  const columns: (Column<HeapRow> | false)[] = [
    {
      key: 'name',
      title: 'instruction',
      width: 'minmax(160px, 2fr)',
      exact: (row) => (row.name === null ? (row.reasons.name ?? null) : `${row.name}${row.part ?? ''}`),
      cell: (row) =>
        row.name === null ? (
          UNKNOWN
        ) : (
          <Link to={{ view: 'hlo', module, name: row.name }}>
            <Name text={`${row.name}${row.part ?? ''}`} mono />
          </Link>
        ),
    },
    { key: 'class', title: 'class', groups: true, width: '96px', cell: (row) => row.class },
    {
      key: 'shape',
      title: 'shape',
      groups: true,
      width: 'minmax(110px, 1.5fr)',
      from: 900,
      exact: (row) => row.shape,
      cell: (row) => (row.shape === null ? UNKNOWN : <Name text={row.shape} mono />),
    },
    {
      key: 'bytes',
      title: 'size',
      unit: sizes.unit,
      width: '104px',
      numeric: true,
      sums: (sum) => inScale(sum, sizes),
      cell: (row) => inScale(row.bytes, sizes),
      exact: (row) => `${row.bytes} bytes`,
    },
    rows.some((row) => (row.padding_bytes ?? 0) > 0) && {
      key: 'padding_bytes',
      title: 'padding',
      unit: sizes.unit,
      width: '104px',
      numeric: true,
      cell: (row) => inScale(row.padding_bytes, sizes),
    },
    {
      key: 'share',
      title: 'share',
      width: '128px',
      numeric: true,
      sums: shareCell,
      cell: (row) => shareCell(row.share),
      bar: (row) => row.share, // of one whole, so that bars of groups add up
    },
    { key: 'first', title: 'from', width: '64px', numeric: true, from: 1000, cell: (row) => count(row.first) },
    { key: 'last', title: 'to', width: '64px', numeric: true, from: 1000, cell: (row) => count(row.last) },
    {
      key: 'scope',
      title: 'scope',
      groups: true,
      width: 'minmax(110px, 2fr)',
      from: 800,
      cutFront: true,
      exact: (row) => row.scope ?? row.reasons.scope ?? null,
      cell: (row) => (row.scope === null ? UNKNOWN : <Name text={row.scope} />),
    },
    {
      key: 'source',
      title: 'source',
      groups: true,
      width: 'minmax(90px, 1fr)',
      from: 1200,
      exact: (row) => row.source,
      cell: (row) => (row.source === null ? UNKNOWN : <Name text={shortSource(row.source)} mono />),
    },
    rows.some((row) => advice(row) !== null) && {
      key: 'rematerialise',
      title: 'could',
      tip: 'What could need less memory: computed again where it is used, or an output in the memory of an input',
      width: 'minmax(100px, 1fr)',
      from: 1100,
      exact: (row) => advice(row),
      cell: (row) => (row.reuse !== null ? `take ${row.reuse}` : row.rematerialise !== null ? 'compute again' : ''),
    },
  ];
  return columns.filter((column) => column !== false);
}

function Tools({ run, reply, table }: { run: RunDetails; reply: HeapReply; table: TableState<HeapRow> }) {
  const list = useJson<HloList>('api/hlo', { run: run.id, limit: MODULES_MAX });
  const modules = (list.data?.modules ?? [])
    .filter((one) => one.has_buffer_assignment)
    .sort((a, b) => (b.self_ps === null ? 0 : toNumber(b.self_ps)) - (a.self_ps === null ? 0 : toNumber(a.self_ps)));
  const params = { run: run.id, view: 'heap', module: reply.module!, buffers: 'all', limit: 10000, format: 'csv' };
  return (
    <TableBar
      table={table}
      noun="buffer"
      total={reply.row_count}
      example="size>1MiB class=temporary"
      file={`${run.name}-heap`}
      csv={address('api/memory', params)}
    >
      <label>
        module
        <select
          value={reply.module!}
          onChange={(event) => go({ module: event.currentTarget.value, position: null }, 'push')}
        >
          {(modules.length > 0 ? modules.map((one) => one.key) : [reply.module!]).map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      <span>
        {query.value.position ? `Alive at instruction ${count(reply.position ?? 0)}: ` : 'Alive at the peak: '}
        <strong>{size(reply.alive_bytes)}</strong>
      </span>
      {query.value.position && <Link to={{ position: null }}>the peak</Link>}
    </TableBar>
  );
}

export function HeapView({ run, nav }: { run: RunDetails; nav: ComponentChildren }) {
  const chosen = Object.fromEntries(
    ['module', 'position'].flatMap((key) => (query.value[key] ? [[key, query.value[key]!]] : [])),
  );
  const heap = useJson<HeapReply>('api/memory', {
    run: run.id,
    view: 'heap',
    limit: ROWS_MAX,
    sort: query.value.sort,
    ...chosen,
  });
  /* The chart's buffers are those of the whole program, not those of the table's moment. */
  const { position: _, ...ofModule } = chosen;
  const all = useJson<HeapReply>('api/memory', {
    run: run.id,
    view: 'heap',
    buffers: 'all',
    limit: ROWS_MAX,
    sort: '-bytes',
    ...ofModule,
  });
  const rows = heap.data?.rows ?? [];
  const table = useTable<HeapRow>({ columns: columnsOf(heap.data?.module ?? '', rows), rows, sort: '-bytes' });
  if (heap.error)
    return (
      <>
        {nav}
        <Failed error={heap.error} />
      </>
    );
  if (!heap.data) return heap.waiting ? <Waiting what="Replaying the heap." progress={heap.progress} /> : null;
  const reply = heap.data;
  if (reply.module === null)
    return (
      <>
        {nav}
        <Empty>{sentenceCase(reply.reasons.module ?? 'no module tells of its memory')}</Empty>
      </>
    );
  return (
    <div class="heap">
      <SentenceLine sentence={sentenceOf(reply)} />
      {nav}
      <p class="basis">{basisOf(reply)}</p>
      <HeapChart
        reply={reply}
        all={all.data?.module === reply.module ? all.data : null}
        chosen={query.value.position ? reply.position : null}
        onPick={(position) => go({ position: String(position) })}
        onOpen={(row) => go({ view: 'hlo', module: reply.module!, name: row.name, line: null, q: null }, 'push')}
      />
      <Tools run={run} reply={reply} table={table} />
      <TableBelow
        table={table}
        total={reply.row_count}
        label={`Buffers of ${reply.module}`}
        rowKey={(row) => `${row.name}${row.part}${row.class}${row.first}${row.bytes}`}
        weight={(row) => row.bytes}
        scroll
      />
    </div>
  );
}
