/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of what changed. */
import type { Ps } from '../../data/json';
import type { DiffRow } from '../../data/diff';
import {
  barOf,
  changeExact,
  changeInScale,
  goalEither,
  goalOf,
  isOp,
  matchExact,
  matchWords,
  nameExact,
  perStep,
  spreadOf,
  stateExact,
  whyWords,
  type Spread,
} from '../../model/compare';
import { shortScope, shortSource } from '../../model/cut';
import type { Cell } from '../../model/filter';
import { spelledLabels } from '../../model/kernel_label';
import { inScale, shareCell, timeExact, timeScale, toNumber, UNKNOWN, type Scale } from '../../model/numbers';
import { Link } from '../../ui/link';
import type { Column } from '../../ui/table';
import { Name, nameRoom } from '../../ui/text';

const number = (value: Ps | null): number | null => (value === null ? null : toNumber(value));

/* What there is to filter by without a column of that name. */
export const ALSO: Record<string, (row: DiffRow) => Cell> = {
  a: (row) => number(row.a_self_ps),
  b: (row) => number(row.b_self_ps),
  kind: (row) => row.kind,
  confidence: (row) => row.confidence as Cell,
  p: (row) => row.p,
};

const why = (row: DiffRow, key: string): string | null => row.reasons?.[key] ?? null;

/* From zero to the right what takes longer, to the left what takes less; grey what may be noise. */
/* Too small to colour. */
const isQuiet = (row: DiffRow): boolean => row.state === 'same';

function Change({ row, scale, spread }: { row: DiffRow; scale: Scale; spread: Spread }) {
  const { from, width } = barOf(row.delta_ps, spread);
  const tone = isQuiet(row) ? 'same' : toNumber(row.delta_ps) > 0 ? 'slower' : 'faster';
  return (
    <>
      <span class={`change ${tone}`}>{changeInScale(row.delta_ps, scale)}</span>
      <span class="change-bar" aria-hidden="true">
        <span class={tone} style={{ left: `${from * 100}%`, width: `${width * 100}%` }} />
        <span class="zero" style={{ left: `${spread.zero * 100}%` }} />
      </span>
    </>
  );
}

function TimeCell({
  row,
  by,
  side,
  text,
  scale,
}: {
  row: DiffRow;
  by: string;
  side: 'a' | 'b';
  text: string;
  scale: Scale;
}) {
  const value = side === 'a' ? row.a_self_ps : row.b_self_ps;
  const goal = value === null ? null : goalOf(row, by, side, text);
  return goal === null ? <>{inScale(value, scale)}</> : <Link to={goal}>{inScale(value, scale)}</Link>;
}

function textColumn(
  key: 'module' | 'category' | 'source' | 'a_name' | 'b_name',
  title: string,
  more: Partial<Column<DiffRow>> = {},
): Column<DiffRow> {
  const cell = (row: DiffRow) =>
    row[key] ? (
      <Name text={key === 'source' ? shortSource(row[key]) : row[key]} mono={key === 'source'} />
    ) : isOp(row) ? (
      UNKNOWN
    ) : (
      ''
    );
  return {
    key,
    title,
    groups: key !== 'a_name' && key !== 'b_name',
    width: 'minmax(96px, 1fr)',
    optional: true,
    exact: (row) => row[key] ?? why(row, key),
    cell,
    ...more,
  };
}

export function columnsOf(rows: readonly DiffRow[], by: string, a: string, b: string): Column<DiffRow>[] {
  const scale = timeScale(rows.flatMap((row) => [row.a_self_ps, row.b_self_ps, row.delta_ps]));
  const spread = spreadOf(rows);
  const renamed = rows.some((row) => row.a_name !== null && row.b_name !== null && row.a_name !== row.b_name);
  const time = (key: 'a_self_ps' | 'b_self_ps', side: 'a' | 'b'): Column<DiffRow> => ({
    key,
    title: side.toUpperCase(),
    tip: `self time of a step of ${side.toUpperCase()}; leads to its slices there`,
    unit: scale.unit,
    width: '84px',
    numeric: true,
    sums: (sum) => inScale(sum, scale),
    cell: (row) => <TimeCell row={row} by={by} side={side} text={side === 'a' ? a : b} scale={scale} />,
    exact: (row) => (row[key] === null ? why(row, key) : timeExact(row[key])),
  });
  const cause = (key: 'often_ps' | 'longer_ps', title: string, tip: string): Column<DiffRow> => ({
    key,
    title,
    tip,
    unit: scale.unit,
    width: '96px',
    numeric: true,
    optional: true,
    cell: (row) => changeInScale(row[key], scale),
    exact: (row) => (row[key] === null ? why(row, key) : changeExact(row[key])),
  });
  const count = (key: 'a_count' | 'b_count', title: string): Column<DiffRow> => ({
    key,
    title,
    width: '72px',
    numeric: true,
    optional: true,
    cell: (row) => perStep(row[key]),
    exact: (row) => (row[key] === null ? why(row, key) : `${row[key]} a step`),
  });
  const labels = spelledLabels(
    rows.map((row) => row.name),
    nameRoom(false),
  );
  const columns: (Column<DiffRow> | false)[] = [
    {
      key: 'name',
      title: by,
      width: 'minmax(180px, 3fr)',
      indent: 16,
      cutFront: by === 'scope',
      exact: nameExact,
      cell: (row) => {
        const goal = isOp(row) ? goalEither(row, by, a, b) : null;
        const words = (
          <Name text={by === 'scope' && isOp(row) ? shortScope(row.name) : (labels.get(row.name) ?? row.name)} />
        );
        return (
          <span class={row.kind ? `kind-${row.kind}` : undefined}>
            {row.kind && <span class="swatch" data-tip={row.kind} />}
            {goal === null ? <span class="quiet">{words}</span> : <Link to={goal}>{words}</Link>}
          </span>
        );
      },
    },
    by === 'op' &&
      rows.some((row) => row.scope) && {
        key: 'scope',
        title: 'scope',
        groups: true,
        width: 'minmax(120px, 3fr)',
        cutFront: true,
        from: 900,
        exact: (row) => row.scope ?? why(row, 'scope'),
        cell: (row) => (row.scope ? <Name text={shortScope(row.scope)} /> : isOp(row) ? UNKNOWN : ''),
      },
    {
      key: 'delta_ps',
      title: 'change',
      unit: scale.unit,
      width: '192px',
      numeric: true,
      sums: (sum) => (
        <>
          <span>{changeInScale(sum, scale)}</span>
          <span class="change-bar" />
        </>
      ),
      cell: (row) => <Change row={row} scale={scale} spread={spread} />,
      exact: (row) => changeExact(row.delta_ps),
    },
    time('a_self_ps', 'a'),
    time('b_self_ps', 'b'),
    {
      key: 'state',
      title: 'state',
      groups: true,
      width: '64px',
      cell: (row) => <span class={isQuiet(row) ? 'quiet' : undefined}>{row.state}</span>,
      exact: stateExact,
    },
    {
      key: 'why',
      title: 'why',
      width: 'minmax(128px, 2fr)',
      sortable: false,
      cell: (row) => whyWords(row),
      exact: (row) => whyWords(row) || why(row, 'often_ps'),
    },
    by === 'op' && {
      key: 'match',
      title: 'match',
      groups: true,
      width: '96px',
      from: 1100,
      tip: 'how it was matched; ≈ where this is often wrong',
      cell: (row) => <span class="quiet">{matchWords(row)}</span>,
      exact: matchExact,
    },
    {
      key: 'share',
      title: 'of the change',
      width: '96px',
      numeric: true,
      from: 1600,
      tip: 'negative, or above 100 %, if rows change in both directions',
      cell: (row) => signedShare(row.share),
      exact: (row) => why(row, 'share'),
    },
    cause('often_ps', 'by count', 'effect of the changed count, at A’s duration'),
    cause('longer_ps', 'by duration', 'effect of the changed duration, at B’s count'),
    count('a_count', 'count A'),
    count('b_count', 'count B'),
    by === 'op' && textColumn('a_name', 'name in A', renamed ? { optional: false, from: 1900 } : {}),
    by === 'op' &&
      textColumn('source', 'source', {
        width: 'minmax(144px, 1fr)',
        cutFront: true,
        ...(rows.some((row) => row.source) ? { optional: false, from: 2200 } : {}),
      }),
    by === 'op' && textColumn('module', 'module'),
    by === 'op' && textColumn('category', 'category'),
  ];
  return columns.filter((column) => column !== false);
}

function signedShare(value: number | null): string {
  return value === null || value >= 0 ? shareCell(value) : `−${shareCell(-value)}`;
}
