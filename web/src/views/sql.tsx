/* SPDX-License-Identifier: Apache-2.0 */
/* A SELECT over everything: the text, what it may ask, its rows, a picture of two columns.
 *
 * The query stands in the address (`sql=`), so that a link shows what its sender saw. The page opens
 * with one that was run: the address's, else the costliest ops.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../data/api';
import { go, query } from '../data/place';
import { askSql, dropQuery, keepQuery, keptQueries, type SqlAnswer, type SqlCell } from '../data/sql';
import { absence, type RunDetails } from '../data/types';
import { count, inScale, plural, shareCell, sizeScale, timeExact, timeScale, UNKNOWN } from '../model/numbers';
import { sentenceCase, strong } from '../model/sentence';
import { isNumeric, pictureOf, placeOf, type Picture } from '../model/sql';
import { timeColumns } from '../data/local_track';
import { Link } from '../ui/link';
import { Empty } from '../ui/states';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, Prose, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';

type Row = Record<string, SqlCell>;

const EXAMPLES: readonly [string, string][] = [
  ['Costliest ops', 'select name, scope, count, self_ps, share from ops order by self_ps desc limit 20'],
  [
    'Time by name',
    'select name, count(*) as count, sum(dur_ps) as total_ps from slices group by name order by 3 desc limit 20',
  ],
  ['Step times', 'select step, dur_ps, compute_ps, idle_ps from steps order by start_ps'],
  ['Longest slices', 'select name, track_name, start_ps, dur_ps from slices order by dur_ps desc limit 20'],
  ['Kinds of work', 'select kind, count(*) as count, sum(self_ps) as self_ps from slices group by kind'],
];

const WITHOUT_TIME = 'select * from runs'; // a run of snapshots or programs has no ops

function columnsOf(answer: SqlAnswer): Column<Row>[] {
  return answer.columns.map(({ name, unit }) => {
    const numeric = isNumeric(answer, name);
    const numbers = answer.rows
      .map((row) => row[name])
      .filter((cell) => typeof cell === 'number' || typeof cell === 'bigint');
    const scale = unit === 'ps' ? timeScale(numbers) : unit === 'bytes' ? sizeScale(numbers.map(Number)) : null;
    const words = (cell: SqlCell | undefined): string => {
      if (cell === null || cell === undefined) return UNKNOWN;
      if (typeof cell === 'string') return cell;
      if (scale) return inScale(cell, scale);
      if (unit === 'share') return shareCell(Number(cell));
      return unit === 'count' ? count(Number(cell)) : String(cell);
    };
    return {
      key: name,
      title: name,
      groups: !numeric,
      ...(scale ? { unit: scale.unit } : {}),
      width: numeric ? 'minmax(88px, 1fr)' : 'minmax(104px, 3fr)',
      numeric,
      cell: (row) => (typeof row[name] === 'string' ? <Name text={row[name]} /> : words(row[name])),
      exact: (row) =>
        row[name] === null || row[name] === undefined
          ? null
          : unit === 'ps' && numeric
            ? timeExact(row[name] as number)
            : String(row[name]),
    };
  });
}

function Chart({ picture, columns }: { picture: Picture; columns: readonly Column<Row>[] }) {
  const most = Math.max(...picture.bars.map((bar) => Math.abs(bar.value)), Number.MIN_VALUE);
  const column = columns.find((one) => one.key === picture.y)!;
  const words = (cell: SqlCell): string =>
    `${String(column.cell({ [picture.y]: cell }))}${column.unit ? ` ${column.unit}` : ''}`;
  if (picture.line) {
    const xs = picture.bars.map((bar) => Number(bar.words));
    const [from, to] = [Math.min(...xs), Math.max(...xs)];
    const highest = picture.bars.reduce((a, b) => (a.value > b.value ? a : b));
    const points = picture.bars.map((bar, at) =>
      [10 + (780 * (xs[at]! - from)) / (to - from || 1), 150 - (140 * bar.value) / most]
        .map((one) => one.toFixed(1))
        .join(),
    );
    return (
      <svg
        class="sql-line"
        viewBox="0 0 800 160"
        role="img"
        aria-label={`${picture.y} over ${picture.x}, up to ${words(highest.cell)}`}
      >
        <polyline points={points.join(' ')} />
        {picture.bars.length <= 200 &&
          points.map((point, at) => (
            <circle key={at} cx={point.split(',')[0]} cy={point.split(',')[1]} r="2.5">
              <title>{`${picture.bars[at]!.words}: ${words(picture.bars[at]!.cell)}`}</title>
            </circle>
          ))}
      </svg>
    );
  }
  return (
    <ol class="sql-bars" aria-label={`${picture.y} by ${picture.x}`}>
      {picture.bars.map((bar, at) => (
        <li key={at}>
          <span title={bar.words}>{bar.words}</span>
          <i style={{ width: `${(100 * Math.abs(bar.value)) / most}%` }} />
          <b>{words(bar.cell)}</b>
        </li>
      ))}
      {picture.left > 0 && <li class="quiet">{plural(picture.left, 'more row')}</li>}
    </ol>
  );
}

function Chosen({
  label,
  value,
  names,
  onChange,
}: {
  label: string;
  value: string;
  names: readonly string[];
  onChange: (name: string) => void;
}) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Result({ answer, sql }: { answer: SqlAnswer; sql: string }) {
  const [axes, setAxes] = useState<{ x?: string; y?: string }>({});
  const columns = columnsOf(answer);
  const picture = pictureOf(answer, axes);
  const keyed = new Map(answer.rows.map((row, at) => [row, String(at)]));
  const table = useTable<Row>({ columns, rows: answer.rows, sort: '', here: true, prefix: 'rows_' });
  return (
    <>
      <p class="quiet" role="status">
        {answer.row_count === null ? `The first ${plural(answer.rows.length, 'row')}` : plural(answer.row_count, 'row')}
        , {count(answer.scan_count)} looked at.
        {answer.notes.map((note) => (
          <>
            {' '}
            <Prose text={sentenceCase(note.message)} />
          </>
        ))}
      </p>
      {picture && (
        <details open class="sql-picture">
          <summary>Chart</summary>
          <div class="toolbar">
            <Chosen
              label="of"
              value={picture.y}
              names={answer.columns.map((one) => one.name).filter((name) => isNumeric(answer, name))}
              onChange={(y) => setAxes({ ...axes, y })}
            />
            <Chosen
              label="by"
              value={picture.x}
              names={answer.columns.map((one) => one.name)}
              onChange={(x) => setAxes({ ...axes, x })}
            />
          </div>
          <Chart picture={picture} columns={columns} />
        </details>
      )}
      {answer.rows.length === 0 ? (
        <Empty>The query found no row.</Empty>
      ) : (
        <>
          {timeColumns(answer) && (
            <p class="quiet">
              <Link to={{ view: 'timeline', debug: sql, sql: null }}>These rows as a track of the timeline</Link>
            </p>
          )}
          <TableBar table={table} noun="row" total={answer.rows.length} example="fusion self_ps>1ms" file="query" />
          <TableBelow
            table={table}
            total={answer.rows.length}
            label="Rows of the query"
            rowKey={(row) => keyed.get(row)!}
          />
        </>
      )}
    </>
  );
}

/* Tables and their columns, as the server lists them. */
function useTables(run: string): ReadonlyMap<string, string[]> {
  const [tables, setTables] = useState<ReadonlyMap<string, string[]>>(new Map());
  const gather = (answer: SqlAnswer): void => {
    const next = new Map<string, string[]>();
    for (const row of answer.rows)
      next.set(String(row.table_name), [...(next.get(String(row.table_name)) ?? []), String(row.name)]);
    setTables(next);
  };
  useEffect(() => {
    const abort = new AbortController();
    askSql(run, 'select table_name, name from columns', abort.signal).then(gather, () => undefined);
    return () => abort.abort();
  }, [run]);
  return tables;
}

function Tables({ tables, onPick }: { tables: ReadonlyMap<string, string[]>; onPick: (text: string) => void }) {
  return (
    <aside class="sql-tables" aria-label="Tables">
      {[...tables].map(([name, columns]) => (
        <details key={name}>
          <summary>{name}</summary>
          <button type="button" onClick={() => onPick(`select * from ${name} limit 20`)}>
            select * from {name}
          </button>
          <p>{columns.join(', ')}</p>
        </details>
      ))}
    </aside>
  );
}

export function SqlView({ run }: { run: RunDetails }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const tables = useTables(run.id);
  const first = query.value.sql ?? (absence(run, 'timeline') === null ? EXAMPLES[0]![1] : WITHOUT_TIME);
  const [text, setText] = useState(first);
  const [asked, setAsked] = useState(first);
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<SqlAnswer | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [waiting, setWaiting] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    setWaiting(true);
    setError(null);
    askSql(run.id, asked, abort.signal).then(
      (got) => {
        setAnswer(got);
        setWaiting(false);
      },
      (why: Error) => {
        if (!abort.signal.aborted) {
          setError(why);
          setAnswer(null);
          setWaiting(false);
        }
      },
    );
    return () => abort.abort();
  }, [run.id, asked, turn]);
  const ask = (what: string): void => {
    setText(what);
    setAsked(what);
    setTurn(turn + 1);
    go({ sql: what }, 'push');
  };
  const place = error instanceof Problem ? placeOf(error.body, asked) : null;
  const toPlace = (): void => {
    field.current!.focus();
    field.current!.setSelectionRange(place!, text.length);
  };
  return (
    <>
      {tables.size > 0 && (
        <SentenceLine
          sentence={[
            ...(run.slice_count === null ? [] : [strong(plural(run.slice_count, 'slice')), ' in ']),
            strong(plural(tables.size, 'table')),
            run.slice_count === null ? ' tell of this run.' : '.',
          ]}
        />
      )}
      <div class="sql">
        <Tables tables={tables} onPick={ask} />
        <div class="sql-main">
          <textarea
            ref={field}
            aria-label="Query"
            spellcheck={false}
            rows={3}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                ask(text);
              }
              event.stopPropagation();
            }}
          />
          <div class="toolbar">
            <button type="button" class="framed" onClick={() => ask(text)} data-tip="ctrl Enter">
              Run
            </button>
            <button type="button" onClick={() => keepQuery(text)}>
              Keep
            </button>
            <label>
              examples
              <select value="" onChange={(event) => ask(event.currentTarget.value)}>
                <option value="">choose</option>
                {EXAMPLES.map(([words, one]) => (
                  <option key={words} value={one}>
                    {words}
                  </option>
                ))}
              </select>
            </label>
            {keptQueries.value.length > 0 && (
              <label>
                kept
                <select value="" onChange={(event) => ask(event.currentTarget.value)}>
                  <option value="">choose</option>
                  {keptQueries.value.map((one) => (
                    <option key={one} value={one}>
                      {one.slice(0, 80)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {keptQueries.value.includes(text) && (
              <button type="button" onClick={() => dropQuery(text)}>
                Forget
              </button>
            )}
            {waiting && <span role="status">Asking …</span>}
          </div>
          {error && (
            <p class="sql-error" role="alert">
              {error.message}{' '}
              {place !== null && (
                <button type="button" onClick={toPlace}>
                  Show the place
                </button>
              )}
            </p>
          )}
          {answer && <Result answer={answer} sql={asked} key={turn} />}
        </div>
      </div>
    </>
  );
}
