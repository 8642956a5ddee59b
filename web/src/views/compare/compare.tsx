/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two runs: one sentence, both steps by kind, and every op that made it. */
import { useEffect } from 'preact/hooks';
import { address, Problem } from '../../data/api';
import type { Diff, DiffRow } from '../../data/diff';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import {
  change,
  changeInScale,
  compareChange,
  goalEither,
  ratioWords,
  sideOf,
  sideShort,
  sideWords,
} from '../../model/compare';
import { shown as shownName } from '../../model/cut';
import { count, inScale, plural, share, time, timeScale, toBig, toNumber } from '../../model/numbers';
import { spoken } from '../../model/spoken';
import { By } from '../../ui/by';
import { registerActions } from '../../ui/keys';
import { lazy } from '../../ui/lazy';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import { PageHeader } from '../shell/header';
import { LostBar } from '../shell/lost_bar';
import { Breakdown } from './breakdown';
import { ALSO, columnsOf } from './columns';
import { Icicles } from '../../ui/icicles';
import { picking } from './picker';

const Aligned = lazy(() => import('../later').then((module) => module.Aligned));

const BY = ['op', 'scope', 'module', 'category', 'source', 'kind'];
const ROWS_MAX = 5000;

const swap = (a: string, b: string): void => go({ a: b, b: a });

function SideButton({ letter, text, other }: { letter: 'a' | 'b'; text: string; other: string }) {
  return (
    <button
      class="side"
      data-tip={`${sideWords(text)}: choose another run`}
      onClick={() => (picking.value = { beside: other, replaces: letter })}
    >
      <span class="faint">{letter.toUpperCase()} </span>
      <span class="cut">
        <Name text={text === '' ? 'choose a run' : sideShort(text)} />
      </span>
    </button>
  );
}

function CompareHeader({ a, b }: { a: string; b: string }) {
  return (
    <PageHeader title="Compare">
      <div class="sides">
        <SideButton letter="a" text={a} other={b} />
        <button aria-label="Swap A and B" data-tip="Swap A and B" onClick={() => swap(a, b)}>
          ⇄
        </button>
        <SideButton letter="b" text={b} other={a} />
      </div>
    </PageHeader>
  );
}

/* On what it stands: the rows sum to the change of the mean, the sentence tells the medians; for
 * sure is a rule that is right nine times of ten. */
function basisOf(diff: Diff): string[] {
  const { a, b } = diff;
  const ratio = ratioWords(a.mean_ps, b.mean_ps);
  const what = diff.step ? 'The mean step' : 'The capture';
  const changed =
    toBig(diff.total_delta_ps) === 0n
      ? `${what} stays at ${time(a.mean_ps)}.`
      : `${what} goes from ${time(a.mean_ps)} to ${time(b.mean_ps)}, ` +
        `${change(diff.total_delta_ps)}${ratio && ` (${ratio})`}; the rows sum to that.`;
  const warm = (side: Diff['a']) => {
    const left = [
      side.warmup_count > 0 ? `${count(side.warmup_count)} warm-up` : '',
      side.cut_count > 0 ? `${count(side.cut_count)} cut by the capture` : '',
    ].filter(Boolean);
    return left.length > 0 ? ` (${left.join(', ')} excluded)` : '';
  };
  const alike = a.step_count === b.step_count && warm(a) === warm(b);
  const counts = alike
    ? `${plural(a.step_count, 'step')}${warm(a)} each`
    : `${plural(a.step_count, 'step')}${warm(a)} of A, ${count(b.step_count)}${warm(b)} of B`;
  const steps = diff.step
    ? `${counts}; ${a.basis === b.basis ? a.basis : `A: ${a.basis}; B: ${b.basis}`}.`
    : 'Without steps on both sides the captures are compared.';
  const sure =
    diff.matched_share === 0
      ? 'No op matches one of the other run.'
      : `Of the ops' time ${share(diff.matched_share)} was matched, ${share(diff.sure_share)} with certainty.`;
  return [changed, `${steps} ${sure}`];
}

function restOf(diff: Diff, shown: readonly DiffRow[]): Record<string, string> | null {
  const left = diff.row_count - shown.length;
  if (left <= 0) return null;
  const scale = timeScale(diff.rows.flatMap((row) => [row.a_self_ps, row.b_self_ps, row.delta_ps]));
  const sum = (of: (row: DiffRow) => number | bigint | null) =>
    shown.reduce((total, row) => total + toBig(of(row) ?? 0), 0n);
  return {
    name: `(rest) ${plural(left, 'row')}`,
    delta_ps: changeInScale(toBig(diff.total_delta_ps) - sum((row) => row.delta_ps), scale),
    a_self_ps: inScale(toBig(diff.a.mean_ps) - sum((row) => row.a_self_ps), scale),
    b_self_ps: inScale(toBig(diff.b.mean_ps) - sum((row) => row.b_self_ps), scale),
  };
}

/* What both were made with, where the files say otherwise: it may be the cause. */
function Setup({ diff }: { diff: Diff }) {
  return (
    <details class="basis">
      <summary>{`The files record ${plural(diff.setup.length, 'other setting')}: ${diff.setup
        .slice(0, 3)
        .map((one) => shownName(one.key))
        .join(', ')}${diff.setup.length > 3 ? ', …' : ''}`}</summary>
      <table aria-label="What differs in versions, flags and devices">
        <thead>
          <tr>
            <td />
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {diff.setup.map((one) => (
            <tr key={one.key}>
              <th scope="row">
                <Name text={one.key} />
              </th>
              <td>{one.a === null ? '–' : <Name text={one.a} mono />}</td>
              <td>{one.b === null ? '–' : <Name text={one.b} mono />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/* What made the change, row by row. */
function Changes({ diff, a, b }: { diff: Diff; a: string; b: string }) {
  const { by } = diff;
  const table = useTable<DiffRow>({ columns: columnsOf(diff.rows, by, a, b), rows: diff.rows, sort: '', also: ALSO });
  const open = (row: DiffRow): void => {
    const goal = goalEither(row, by, a, b);
    if (goal) go(goal, 'push');
  };
  return (
    <>
      <TableBar
        table={table}
        noun="row"
        total={diff.row_count}
        example="scope:mlp change>1ms state:new"
        file={`${sideOf(a).run}-${sideOf(b).run}-${by}`}
        csv={address('api/diff', { a, b, by, sort: query.value.sort, limit: 10_000, format: 'csv' })}
      >
        <By
          value={by}
          words={BY}
          onChoose={(word) => go({ by: word, sort: null, group: null, key: null, columns: null, zoom: null }, 'push')}
        />
        <button
          class="framed"
          data-tip="Both timelines, aligned at the start of a step"
          onClick={() => go({ align: 'first' }, 'push')}
        >
          Timelines
        </button>
      </TableBar>
      {by === 'scope' && <Icicles diff={diff} />}
      <TableBelow
        table={table}
        total={diff.row_count}
        label={`Change by ${by}`}
        rowKey={(row) => row.key}
        focused={query.value.key ?? null}
        onFocusRow={(row) => go({ key: row.key }, 'replace')}
        onOpen={open}
        openOn="enter"
        onShow={open}
        weight={(row) => Math.abs(toNumber(row.delta_ps))}
        rest={restOf(diff, table.rows)}
        scroll
      />
    </>
  );
}

function Answer({ diff, a, b }: { diff: Diff; a: string; b: string }) {
  return (
    <>
      <SentenceLine sentence={spoken(diff.sentence)} />
      {basisOf(diff).map((words) => (
        <p key={words} class="basis">
          {words}
        </p>
      ))}
      {diff.notes.map((note) => (
        <p key={note.message} class={`basis${note.severity === 'info' ? '' : ' warn'}`}>
          {note.message}
        </p>
      ))}
      {diff.setup.length > 0 && <Setup diff={diff} />}
      <Breakdown diff={diff} a={a} b={b} />
      {query.value.align === undefined ? (
        <Changes diff={diff} a={a} b={b} />
      ) : (
        <Aligned key={`${a} ${b}`} a={a} b={b} ids={[diff.a.id, diff.b.id]} />
      )}
    </>
  );
}

/* Which side it is stands in the words; its neighbours by name are one click away. A heap or a
 * program alone has no times. */
function NotThere({ error, a, b }: { error: Problem; a: string; b: string }) {
  const names = error.candidates.length > 0 ? error.candidates : error.nearest.map((name) => ({ id: name, name }));
  const isA = error.message.includes(`"${sideOf(a).run}"`);
  const asked = shownName(sideOf(isA ? a : b).run);
  const missing = names.length > 0 || /no run/.test(error.message);
  const reason =
    error.status === 409
      ? error.message
      : missing
        ? `No run "${asked}".`
        : `${asked} has nothing to compare: no op, no step and no slice` +
          `${sideOf(isA ? a : b).run === (isA ? a : b) ? '' : ' in that part'}.`;
  return (
    <div class="state" role="alert">
      <span class={error.status === 404 && !missing ? undefined : 'error'}>{reason}</span>
      {names.length === 0 && (
        <button
          class="framed"
          onClick={() => (picking.value = isA ? { beside: b, replaces: 'a' } : { beside: a, replaces: 'b' })}
        >
          Choose another run
        </button>
      )}
      {names.length > 0 && (error.candidates.length > 0 ? ' It means one of ' : ' Nearest: ')}
      {names.map((one, index) => (
        <>
          {index > 0 && ', '}
          <Link to={isA ? { a: one.id } : { b: one.id }}>{one.name}</Link>
        </>
      ))}
    </div>
  );
}

function Same({ side, a }: { side: string; a: string }) {
  return (
    <div class="state">
      A and B are both {side}: there is no difference to show.
      <button class="framed" onClick={() => (picking.value = { beside: a, replaces: 'b' })}>
        Choose another run
      </button>
      <p class="quiet">
        Two parts of it can be compared:{' '}
        <code class="mono">{`a=${sideOf(a).run}@step=1-4&b=${sideOf(a).run}@step=5-8`}</code>
      </p>
    </div>
  );
}

function Page({ a, b }: { a: string; b: string }) {
  const by = BY.includes(query.value.by ?? '') ? query.value.by! : 'op';
  const same = a === b;
  const diff = useJson<Diff>(same ? null : 'api/diff', { a, b, by, sort: query.value.sort, limit: ROWS_MAX });
  const data = diff.data;
  useEffect(() => {
    const changed = data?.step ? [change(data.step.delta_ps)] : [];
    document.title = `${[...changed, `${sideWords(a)} → ${sideWords(b)}`, 'Compare'].join(' · ')} – jviewd`;
  }, [data, a, b]);
  if (same) return <Same side={sideWords(a)} a={a} />;
  if (
    data &&
    data.a.id === data.b.id &&
    JSON.stringify({ ...sideOf(a), run: '' }) === JSON.stringify({ ...sideOf(b), run: '' })
  )
    return <Same side={data.a.name} a={a} />;
  if (diff.error instanceof Problem && (diff.error.status === 404 || diff.error.status === 409))
    return <NotThere error={diff.error} a={a} b={b} />;
  if (diff.error) return <Failed error={diff.error} />;
  if (!data) return diff.waiting ? <Waiting what="Comparing." progress={diff.progress} /> : null;
  return <Answer diff={data} a={a} b={b} />;
}

/* One side missing: the run that is known, and what to compare it with. */
function Half({ run }: { run: string }) {
  useEffect(() => void (run !== '' && (picking.value = { beside: run })), [run]);
  return (
    <div class="state">
      {run === '' ? 'Two runs are compared: tick them in the ' : 'Compared with which run? '}
      {run === '' ? (
        <>
          <Link to={{ ...compareChange('', ''), a: null, b: null, view: 'runs' }}>list of runs</Link>.
        </>
      ) : (
        <button class="framed" onClick={() => (picking.value = { beside: run })}>
          Choose one
        </button>
      )}
    </div>
  );
}

export function CompareView() {
  const a = query.value.a ?? '';
  const b = query.value.b ?? query.value.run ?? '';
  useEffect(
    () =>
      registerActions({
        compare: () => void (picking.value = { beside: b, replaces: 'a' }),
        'compare-swap': () => swap(a, b),
      }),
    [a, b],
  );
  const isWhole = a !== '' && b !== '';
  return (
    <div class="shell">
      <CompareHeader a={a} b={b} />
      <div />
      <div>
        <LostBar />
      </div>
      <main class="page filling compare">{isWhole ? <Page a={a} b={b} /> : <Half run={a || b} />}</main>
    </div>
  );
}
