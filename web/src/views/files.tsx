/* SPDX-License-Identifier: Apache-2.0 */
/* What the run is made of, and everything that was noted while reading it. */
import { query } from '../data/place';
import type { Note, RunDetails, RunFile } from '../data/types';
import { inScale, size, sizeScale, time, UNKNOWN } from '../model/numbers';
import { filesSentence, type Sentence } from '../model/sentence';
import { Table, type Column } from '../ui/table';
import { NothingMatches, TableBar } from '../ui/table_bar';
import { Name, Prose, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';

/* A dump or a snapshot was written by no host that it tells of. */
function fileColumns(run: RunDetails): Column<RunFile>[] {
  const { files } = run;
  const hosts = new Set(run.hosts.map((host) => host.name));
  const hostOf = (file: RunFile): string | null => (file.host !== null && hosts.has(file.host) ? file.host : null);
  const scale = sizeScale(files.map((file) => file.bytes));
  return [
    {
      key: 'path',
      title: 'file',
      width: 'minmax(240px, 4fr)',
      exact: (file) => file.path,
      cell: (file) => <Name text={file.path} mono />,
    },
    {
      key: 'host',
      title: 'host',
      groups: true,
      width: 'minmax(80px, 1fr)',
      from: 760,
      value: hostOf,
      cell: (file) => (hostOf(file) === null ? UNKNOWN : <Name text={file.host} />),
      exact: (file) => hostOf(file) ?? 'the file names no host',
    },
    { key: 'format', title: 'format', groups: true, width: '112px', from: 760, cell: (file) => file.format ?? UNKNOWN },
    {
      key: 'bytes',
      title: 'size',
      unit: scale.unit,
      width: '104px',
      numeric: true,
      sums: (total) => inScale(total, scale),
      cell: (file) => inScale(file.bytes, scale),
      exact: (file) => `${file.bytes} bytes`,
    },
    {
      key: 'state',
      title: 'state',
      groups: true,
      width: 'minmax(120px, 3fr)',
      exact: (file) => file.error,
      cell: (file) => (
        <span class={file.state === 'failed' ? 'error' : file.state === 'partial' ? 'warn' : undefined}>
          {file.state}
          {file.error && `: ${file.error}`}
        </span>
      ),
    },
  ];
}

const NOTE_COLUMNS: Column<Note>[] = [
  {
    key: 'severity',
    title: 'severity',
    width: '80px',
    cell: (note) => (
      <span class={note.severity === 'info' ? undefined : note.severity === 'error' ? 'error' : 'warn'}>
        {note.severity}
      </span>
    ),
  },
  {
    key: 'message',
    title: 'note',
    width: 'minmax(240px, 5fr)',
    exact: (note) => note.message,
    cell: (note) => note.message,
  },
  {
    key: 'host',
    title: 'host',
    width: 'minmax(80px, 1fr)',
    cell: (note) => (note.host ? <Name text={note.host} /> : ''),
  },
  { key: 'count', title: 'count', width: '72px', numeric: true, cell: (note) => String(note.count) },
];

function pairsOf(value: RunDetails['environment'] | RunDetails['capture_options']): [string, string][] {
  if (!value) return [];
  const text = (one: unknown): string =>
    typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one ?? UNKNOWN);
  if (Array.isArray(value)) return value.map((one) => [one.name, text(one.value)]);
  return Object.entries(value).map(([name, one]) => [name, text(one)]);
}

/* Every device tells of itself: each thing once, with what they say of it and how many say so. */
function once(pairs: [string, string][]): Map<string, Map<string, number>> {
  const seen = new Map<string, Map<string, number>>();
  for (const [name, value] of pairs) {
    const values = seen.get(name) ?? new Map<string, number>();
    seen.set(name, values.set(value, (values.get(value) ?? 0) + 1));
  }
  return seen;
}

function Pairs({ title, pairs }: { title: string; pairs: [string, string][] }) {
  if (pairs.length === 0) return null;
  return (
    <section>
      <h2 class="section">{title}</h2>
      <dl class="pairs">
        {[...once(pairs)].map(([name, values]) => (
          <>
            <dt class="cut">
              <Name text={name} />
            </dt>
            <dd>
              {[...values].map(([value, times], index) => (
                <>
                  {index > 0 && ', '}
                  <Name text={value} mono />
                  {times > 1 && <span class="faint"> × {times}</span>}
                </>
              ))}
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function sentenceOf(run: RunDetails): Sentence {
  const counted = run.files.filter((file) => file.state !== 'ignored' && file.state !== 'covered');
  const partial = counted.filter((file) => file.state !== 'ready').length;
  const bytes = run.files.reduce((sum, file) => sum + file.bytes, 0);
  const sentence = filesSentence(run.files.length, size(bytes), partial, counted.length);
  if (run.started_at !== null)
    sentence.push(
      ` Captured ${run.started_at.replace('T', ' ').replace('Z', ' UTC')}`,
      run.duration_ps === null ? '.' : ', ',
    );
  if (run.started_at !== null && run.duration_ps !== null) sentence.push({ strong: time(run.duration_ps) }, '.');
  return sentence;
}

export function FilesView({ run }: { run: RunDetails }) {
  const table = useTable<RunFile>({ columns: fileColumns(run), rows: run.files, sort: '', here: true });
  return (
    <div class="sections">
      <SentenceLine sentence={sentenceOf(run)} />
      {run.error && (
        <p class="error">
          <Prose text={run.error} />
        </p>
      )}
      <div>
        <TableBar
          table={table}
          noun="file"
          total={run.files.length}
          example="hlo state!=ready size>1MiB"
          file={`${run.name}-files`}
        />
        {run.files.length > 0 && table.rows.length === 0 && <NothingMatches table={table} total={run.files.length} />}
        {table.rows.length > 0 && (
          <Table
            label="Files of the run"
            columns={table.columns}
            chosen={query.value.columns}
            rows={table.rows}
            rowKey={(file) => file.path}
            rowCount={run.files.length}
            sort={table.sort}
            onSort={table.onSort}
            groupOf={table.groupOf}
            weight={(file) => file.bytes}
          />
        )}
      </div>
      {run.notes.length > 0 && (
        <section>
          <h2 class="section">Notes</h2>
          <Table
            label="Notes"
            columns={NOTE_COLUMNS}
            rows={run.notes}
            rowKey={(note) => `${note.kind} ${note.host} ${note.message}`}
          />
        </section>
      )}
      <div class="slice-grid">
        <Pairs title="Environment" pairs={pairsOf(run.environment)} />
        <Pairs title="Capture options" pairs={pairsOf(run.capture_options)} />
      </div>
    </div>
  );
}
