/* SPDX-License-Identifier: Apache-2.0 */
/* What was compiled and why: a strip over the run, and a row a function or a compile with its phases. */
import { address } from '../data/api';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { stepRestriction } from '../data/restriction';
import type { RunDetails } from '../data/types';
import type { Changes } from '../model/address';
import { compilesSentence, PHASES, PHASE_WORDS, phaseOf, type CompileList, type CompileRow } from '../model/compiles';
import {
  count,
  inScale,
  plural,
  share,
  time,
  timeExact,
  timeScale,
  toNumber,
  UNKNOWN,
  type Scale,
} from '../model/numbers';
import { sentenceCase } from '../model/sentence';
import { By } from '../ui/by';
import { Link } from '../ui/link';
import { Empty, Failed, NothingHere, Waiting } from '../ui/states';
import { stepWindow } from '../ui/step_bars';
import type { Column } from '../ui/table';
import { TableBar, TableBelow } from '../ui/table_bar';
import { Name, Prose, SentenceLine } from '../ui/text';
import { useTable } from '../ui/use_table';

const ROWS_MAX = 5000;
const BARS_MAX = 1000;
const WIDTH = 1000; // of the strip, in its own units

function goalOf(row: CompileRow, by: string): Changes {
  const window = row.dur_ps === undefined ? null : stepWindow({ start_ps: row.start_ps, dur_ps: row.dur_ps });
  return by === 'compile'
    ? { view: 'timeline', slice: row.slice, window, by: null }
    : { by: 'compile', name: row.function };
}

const phasesOf = (row: CompileRow): string =>
  PHASES.filter((phase) => phaseOf(row, phase) > 0)
    .map((phase) => `${PHASE_WORDS[phase]} ${time(row[`${phase}_ps`]!)}`)
    .join(', ');

/* Phases side by side; the whole is what all compiles took. */
function PhaseBar({ row, whole }: { row: CompileRow; whole: number }) {
  let at = 0;
  return (
    <svg class="phase-bar" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      {PHASES.map((phase) => {
        const width = (phaseOf(row, phase) / whole) * WIDTH;
        const x = at;
        at += width;
        return width > 0 && <rect key={phase} class={`phase-${phase}`} x={x} y={0} width={width} height={10} />;
      })}
    </svg>
  );
}

function Legend({ rows }: { rows: readonly CompileRow[] }) {
  const all = rows.reduce((sum, row) => sum + toNumber(row.total_ps), 0);
  return (
    <ul class="legend" aria-label="Phases of compiling">
      {PHASES.map((phase) => {
        const part = rows.reduce((sum, row) => sum + phaseOf(row, phase), 0);
        return (
          part > 0 && (
            <li key={phase}>
              <svg class="phase-swatch" viewBox="0 0 10 10" aria-hidden="true">
                <rect class={`phase-${phase}`} width={10} height={10} />
              </svg>
              {PHASE_WORDS[phase]} <span class="number">{share(part / all)}</span>
            </li>
          )
        );
      })}
    </ul>
  );
}

function tipOf(row: CompileRow): string {
  const step = row.step === null || row.step === undefined ? '' : `, step ${row.step}`;
  const changed = row.changed ? `\n${row.changed}` : '';
  return `${row.function ?? 'a function without a name'}, ${time(row.total_ps)}${step}\n${phasesOf(row)}${changed}`;
}

const BAR_TOP = 4;
const BAR_HEIGHT = 27;

/* What it did, from the floor up: as high as its share of the compile. */
function StripBar({ row, x, width }: { row: CompileRow; x: number; width: number }) {
  const all = Math.max(
    1,
    PHASES.reduce((sum, phase) => sum + phaseOf(row, phase), 0),
  );
  let floor = BAR_TOP + BAR_HEIGHT;
  return (
    <g class="strip-bar" data-tip={tipOf(row)} onClick={() => go(goalOf(row, 'compile'), 'push')}>
      {PHASES.map((phase) => {
        const height = (phaseOf(row, phase) / all) * BAR_HEIGHT;
        floor -= height;
        return (
          height > 0 && <rect key={phase} class={`phase-${phase}`} x={x} y={floor} width={width} height={height} />
        );
      })}
    </g>
  );
}

/* When it happened: each compile a bar as long as it took, of the phases it is made of. */
function Strip({ run, rows }: { run: RunDetails; rows: readonly CompileRow[] }) {
  const end = Math.max(
    toNumber(run.duration_ps ?? 0),
    ...rows.map((row) => toNumber(row.start_ps) + toNumber(row.dur_ps ?? 0)),
    1,
  );
  return (
    <>
      <svg
        class="compile-strip"
        viewBox={`0 0 ${WIDTH} 32`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${plural(rows.length, 'compile')} over ${time(end)}`}
      >
        <line class="strip-axis" x1={0} x2={WIDTH} y1={31.5} y2={31.5} />
        {rows.map((row) => (
          <StripBar
            key={row.slice}
            row={row}
            x={(toNumber(row.start_ps) / end) * WIDTH}
            width={Math.max(2, (toNumber(row.dur_ps ?? 0) / end) * WIDTH)}
          />
        ))}
      </svg>
      <div class="strip-ends" aria-hidden="true">
        <span>0</span>
        <span>{time(end)}</span>
      </div>
    </>
  );
}

function columnsOf(rows: readonly CompileRow[], whole: number, by: string): Column<CompileRow>[] {
  const scale = timeScale(rows.map((row) => row.total_ps));
  const ps = (
    key: keyof CompileRow & string,
    title: string,
    in_: Scale,
    more: Partial<Column<CompileRow>> = {},
  ): Column<CompileRow> => ({
    key,
    title,
    unit: in_.unit,
    width: '92px',
    numeric: true,
    cell: (row) => inScale(row[key] as number | null, in_),
    exact: (row) =>
      row[key] === null || row[key] === undefined ? (row.reasons[key] ?? null) : timeExact(row[key] as number),
    ...more,
  });
  const start = timeScale(rows.map((row) => row.start_ps));
  const each = by === 'compile';
  const columns: (Column<CompileRow> | false)[] = [
    {
      key: 'function',
      title: 'function',
      groups: each,
      width: 'minmax(120px, 3fr)',
      exact: (row) => row.function ?? row.reasons.function ?? null,
      cell: (row) => <Link to={goalOf(row, by)}>{row.function ? <Name text={row.function} /> : '(no name)'}</Link>,
    },
    each && ps('start_ps', 'begin', start),
    !each && { key: 'count', title: 'count', width: '64px', numeric: true, cell: (row) => count(row.count ?? 0) },
    ps('total_ps', 'total', scale, { sums: (total) => inScale(total, scale) }),
    {
      key: 'phases',
      title: 'phases',
      width: 'minmax(120px, 2fr)',
      sortable: false,
      cell: (row) => <PhaseBar row={row} whole={whole} />,
      exact: phasesOf,
    },
    !each && ps('later_ps', 'again', scale, { tip: 'All but the first', from: 900 }),
    ps('trace_ps', 'trace', scale, { from: 1500 }),
    ps('lower_ps', 'lower', scale, { from: 1500 }),
    ps('cache_ps', 'cache', scale, { optional: true }),
    ps('passes_ps', 'passes', scale, { from: 1300 }),
    ps('codegen_ps', 'codegen', scale, { from: 1300 }),
    ps('autotune_ps', 'autotune', scale, { optional: !rows.some((row) => phaseOf(row, 'autotune') > 0) }),
    ps('compiler_ps', 'compiler', scale, { optional: true }),
    each
      ? {
          key: 'step',
          title: 'step',
          width: '64px',
          numeric: true,
          cell: (row) => (row.step === null || row.step === undefined ? UNKNOWN : String(row.step)),
          exact: (row) => row.reasons.step ?? null,
        }
      : {
          key: 'steps',
          title: 'in steps',
          width: '72px',
          cell: (row) => row.steps ?? UNKNOWN,
          exact: (row) => row.steps ?? row.reasons.steps ?? null,
        },
    {
      key: 'changed',
      title: 'what changed',
      groups: each,
      width: 'minmax(160px, 5fr)',
      cell: (row) => (row.changed ? <Name text={row.changed} /> : UNKNOWN),
      exact: (row) => row.changed ?? row.reasons.changed ?? null,
    },
  ];
  return columns.filter((column) => column !== false);
}

export function CompilesView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const by = query.value.by === 'compile' ? 'compile' : 'function';
  const sort = query.value.sort ?? (by === 'compile' ? 'start_ps' : '-total_ps');
  const name = query.value.name;
  const params = { run: run.id, by, ...stepRestriction(), ...(name ? { name } : {}), sort };
  const list = useJson<CompileList>(absent === null ? 'api/compiles' : null, { ...params, limit: ROWS_MAX });
  const functions = useJson<CompileList>(absent === null ? 'api/compiles' : null, {
    ...params,
    by: 'function',
    sort: '-total_ps',
    limit: ROWS_MAX,
  });
  const each = useJson<CompileList>(absent === null ? 'api/compiles' : null, {
    ...params,
    by: 'compile',
    sort: '-total_ps',
    limit: BARS_MAX,
  });
  const data = list.data?.by === by ? list.data : null;
  const rows = data?.rows ?? [];
  const table = useTable<CompileRow>({
    columns: columnsOf(rows, Math.max(1, toNumber(data?.total_ps ?? 0)), by),
    rows,
    sort,
  });
  if (absent !== null)
    return (
      <Empty>
        <Prose text={sentenceCase(absent)} />
      </Empty>
    );
  return (
    <>
      {functions.data && functions.data.rows.length > 0 && (
        <SentenceLine sentence={compilesSentence(functions.data.rows, functions.data.total_ps)} />
      )}
      {each.data && each.data.rows.length > 0 && <Strip run={run} rows={each.data.rows} />}
      {functions.data && functions.data.rows.length > 0 && <Legend rows={functions.data.rows} />}
      <TableBar
        table={table}
        noun={by}
        total={data?.row_count ?? 0}
        example="train_step total>1s"
        file={`${run.name}-compiles`}
        csv={address('api/compiles', { ...params, limit: 10_000, format: 'csv' })}
      >
        <By
          value={by}
          words={['function', 'compile']}
          onChoose={(word) => go({ by: word, sort: null, columns: null, key: null }, 'push')}
        />
        {name && <button class="framed" onClick={() => go({ name: null }, 'push')}>{`all functions`}</button>}
      </TableBar>
      {list.error && <Failed error={list.error} />}
      {!data && list.waiting && <Waiting what="Looking for compiles." progress={list.progress} />}
      {data && data.row_count === 0 && <NothingHere did="Nothing was compiled" />}
      {data && (
        <TableBelow
          table={table}
          total={data.row_count}
          label={`Compiles by ${by}`}
          rowKey={(row) => row.slice}
          weight={(row) => toNumber(row.total_ps ?? 0)}
          focused={query.value.key ?? null}
          onFocusRow={(row) => go({ key: row.slice }, 'replace')}
          onOpen={(row) => go(goalOf(row, by), 'push')}
          openOn="enter"
          onShow={(row) => go({ view: 'timeline', slice: row.slice, by: null }, 'push')}
          scroll
        />
      )}
    </>
  );
}
