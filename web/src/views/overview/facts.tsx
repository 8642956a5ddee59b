/* SPDX-License-Identifier: Apache-2.0 */
/* What went before the first step, and how near to their peak the devices came. */
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import { absence, type Overview, type RunDetails, type StepRow } from '../../data/types';
import { beforeParts, beforeSteps, type CompileList, type CompileRow } from '../../model/compiles';
import { share, time } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Prose } from '../../ui/text';

const COMPILES_MAX = 10_000;

const rowsOf = (list: CompileList | null): readonly CompileRow[] | null =>
  list !== null && list.rows.length === list.row_count ? list.rows : null;

/* Of a run of one host, whole: its compiles are parts of one line of time. */
export function BeforeSteps({ run, steps }: { run: RunDetails; steps: readonly StepRow[] }) {
  const isWhole = run.hosts.length === 1 && Object.keys(restriction.value).length === 0;
  const before = isWhole && absence(run, 'compiles') === null ? beforeSteps(steps) : null;
  const ask = { run: run.id, by: 'compile', limit: COMPILES_MAX };
  const startPs = before?.startPs ?? 0;
  const earlier = useJson<CompileList>(startPs > 0 ? 'api/compiles' : null, { ...ask, end_ps: String(startPs) });
  const inside = useJson<CompileList>(before !== null ? 'api/compiles' : null, { ...ask, step: 'counted' });
  const rows = [startPs > 0 ? rowsOf(earlier.data) : [], rowsOf(inside.data)] as const;
  const found = before && rows[0] && rows[1] && beforeParts(before, rows[0], rows[1]);
  if (!found) return null;
  return (
    <section class="before-steps">
      <h2 class="section">
        <Link to={{ view: 'compiles' }}>Before the first counted step</Link>{' '}
        {found.allPs > 0 && <span class="quiet">{time(found.allPs)}</span>}
      </h2>
      <dl class="device-bars">
        {found.parts.map(({ words, ps }) => (
          <div key={words}>
            <dt class="cut">{words}</dt>
            <dd data-tip={`${share(ps / found.allPs)} of it`}>
              <span class="bar-track" aria-hidden="true">
                <span style={{ width: `${Math.min(1, ps / found.allPs) * 100}%` }} />
              </span>
              <span class="number">{time(ps)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {found.tunedInsidePs > 0 && (
        <p class="quiet">Counted steps hold {time(found.tunedInsidePs)} of autotuning too.</p>
      )}
    </section>
  );
}

/* The share of the peak, or why it is not known. */
export function Mfu({ overview }: { overview: Overview }) {
  const { efficiency: found, step } = overview;
  if (!found || (step?.counted ?? 0) === 0) return null;
  const why = found.reasons.mfu;
  return (
    <p class="basis mfu">
      {found.mfu === null ? (
        <>
          MFU is not known
          {why && (
            <>
              : <Prose text={why} />
            </>
          )}
          .
        </>
      ) : (
        <>
          MFU: <strong>{`${found.is_least ? 'at least ' : ''}${share(found.mfu)}`}</strong>
          {found.peak && ` of the ${found.peak} peak`}.
        </>
      )}{' '}
      <Link to={{ view: 'roofline' }}>Roofline</Link>
    </p>
  );
}
