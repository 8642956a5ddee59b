/* SPDX-License-Identifier: Apache-2.0 */
/* The scopes of this run, step or range against another's, in place: `against=SIDE` of a comparison. */
import type { Diff } from '../../data/diff';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunList } from '../../data/types';
import { rangeOf } from '../../model/address';
import { compareChange, partBefore, pickOrder } from '../../model/compare';
import { shown } from '../../model/cut';
import { Icicles } from '../../ui/icicles';
import { Link } from '../../ui/link';
import { spoken } from '../../model/spoken';
import { Failed, Waiting } from '../../ui/states';
import { SentenceLine } from '../../ui/text';

const RUNS_MAX = 200;
const ROWS_MAX = 10_000;

/* The part of the page's run that it is narrowed to, as comparisons write it. */
function sideOf(run: string): string {
  const range = rangeOf(query.value);
  const { step } = query.value;
  if (range) return `${run}@${range.start}-${range.end}`;
  return step !== undefined && /^\d+$/.test(step) ? `${run}@step=${step}` : run;
}

/* The part before, and the other runs from the nearest on; a range has no like in another run. */
export function AgainstChoice({ run }: { run: string }) {
  const range = rangeOf(query.value);
  const runs = useJson<RunList>('api/runs', { limit: RUNS_MAX });
  const part = partBefore(run, { step: range ? undefined : query.value.step, start: range?.start, end: range?.end });
  const others = range
    ? []
    : pickOrder(
        (runs.data?.runs ?? []).filter((one) => one.state === 'ready'),
        run,
      );
  const now = query.value.against ?? '';
  const suffix = sideOf(run).slice(run.length);
  const known = now === '' || now === part?.a || others.some((one) => `${one.name}${suffix}` === now);
  return (
    <label data-tip="What changed by scope: slower, faster">
      compare with{' '}
      <select
        value={now}
        onChange={(event) => go({ against: event.currentTarget.value || null, zoom: null, key: null }, 'push')}
      >
        <option value="">none</option>
        {!known && <option value={now}>{shown(now)}</option>}
        {part && <option value={part.a}>{part.words}</option>}
        {others.map((one) => (
          <option key={one.id} value={`${one.name}${suffix}`}>
            {shown(one.name)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Sides {
  run: string;
  against: string;
}

const useDifference = ({ run, against }: Sides) =>
  useJson<Diff>('api/diff', { a: against, b: sideOf(run), by: 'scope', limit: ROWS_MAX });

export function DifferenceWords(sides: Sides) {
  const { data } = useDifference(sides);
  const side = sideOf(sides.run);
  return (
    data && (
      <>
        <SentenceLine sentence={spoken(data.sentence)} />
        <p class="basis">
          Scopes of A, {shown(sides.against)}, and of B, {shown(side)}, on one scale.{' '}
          <Link to={{ ...compareChange(sides.against, side), by: 'scope' }}>All that changed</Link>
        </p>
      </>
    )
  );
}

export function Difference(sides: Sides) {
  const { data, error, waiting, progress } = useDifference(sides);
  if (error) return <Failed error={error} />;
  if (!data) return waiting ? <Waiting what="Comparing." progress={progress} /> : null;
  return <Icicles diff={data} />;
}
