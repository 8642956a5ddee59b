/* SPDX-License-Identifier: Apache-2.0 */
/* Below a table of the counted steps: what they leave out, and where that lies. */
import { useEffect, useState } from 'preact/hooks';
import { loadJson, useJson } from '../data/resource';
import { restriction } from '../data/restriction';
import { absence, type RunDetails, type StepRow, type TopList } from '../data/types';
import { ALL_STEPS, type Changes } from '../model/address';
import { time, toBig, toNumber } from '../model/numbers';
import type { CompileList } from '../model/compiles';
import { outsideParts, tuningPart, type OutsidePart } from '../model/steps_words';
import { Link } from '../ui/link';

const OUTSIDE_SHARE = 0.005;
const STEPS_MAX = 10_000;
const COMPILES_MAX = 1000;

type Timed = Omit<OutsidePart, 'within'> & { self: bigint; within: Timed | undefined };

const windowOf = ({ start, end }: OutsidePart): Changes => ({
  ...(start === null ? {} : { start_ps: String(start) }),
  ...(end === null ? {} : { end_ps: String(end) }),
});

/* The time of each part, as the same table has it for its window. */
function useTimes(parts: readonly OutsidePart[] | null, params: Record<string, string | number>): Timed[] | null {
  const [times, setTimes] = useState<Timed[] | null>(null);
  const key = JSON.stringify([params, parts?.map((part) => [windowOf(part), part.within && windowOf(part.within)])]);
  useEffect(() => {
    const gone = new AbortController();
    const timed = async (part: OutsidePart): Promise<Timed> => {
      const top = await loadJson<TopList>('api/top', { ...params, ...windowOf(part) }, gone.signal);
      return { ...part, self: toBig(top.total_self_ps), within: part.within && (await timed(part.within)) };
    };
    setTimes(null);
    if (parts !== null)
      Promise.all(parts.map(timed)).then(
        (found) => !gone.signal.aborted && setTimes(found),
        () => undefined, // the whole is told without its parts
      );
    return () => gone.abort();
  }, [key]);
  return times;
}

/* Compilations before the first step are of the part that ends there. */
function withTuning(parts: readonly OutsidePart[], compiles: CompileList | null): readonly OutsidePart[] {
  const [first, ...others] = parts;
  const within =
    first?.start === null && first.end !== null && compiles ? tuningPart(compiles.rows, first.end) : undefined;
  return within ? [{ ...first!, within }, ...others] : parts;
}

const Window = ({ part }: { part: Timed }) => (
  <>
    <Link to={{ step: null, start_ps: null, end_ps: null, ...windowOf(part) }}>{time(part.self)}</Link> {part.words}
  </>
);

export function Outside({ run, of }: { run: RunDetails; of: TopList }) {
  const params = { run: run.id, by: of.by, ...restriction.value, spread: 'none', limit: 1 };
  const whole = useJson<TopList>(of.counted ? 'api/top' : null, params);
  const outside =
    of.counted && whole.data?.by === of.by ? toBig(whole.data.total_self_ps) - toBig(of.total_self_ps) : 0n;
  const isTold = outside > 0n && Number(outside) >= OUTSIDE_SHARE * toNumber(whole.data!.total_self_ps);
  const steps = useJson<{ rows: StepRow[] }>(isTold && run.hosts.length === 1 ? 'api/steps' : null, {
    run: run.id,
    limit: STEPS_MAX,
  });
  const parts = isTold && steps.data ? outsideParts(steps.data.rows, toBig(run.duration_ps ?? 0)) : null;
  const before = parts?.[0]?.start === null ? parts[0] : undefined;
  const isAsked = before !== undefined && absence(run, 'compiles') === null;
  const compiles = useJson<CompileList>(isAsked ? 'api/compiles' : null, {
    run: run.id,
    by: 'compile',
    end_ps: String(before?.end ?? 0),
    limit: COMPILES_MAX,
  });
  const isReady = !isAsked || compiles.data !== null || compiles.error !== null;
  const times = useTimes(parts && isReady ? withTuning(parts, compiles.data) : null, params);
  if (!isTold) return null;
  const rest = times === null ? 0n : times.reduce((left, part) => left - part.self, outside);
  const told = times !== null && rest >= 0n ? times.filter((part) => part.self > 0n) : [];
  return (
    <p class="basis outside">
      Another {time(outside)} lies outside of these steps
      {told.length === 0 && ': warm-up, autotuning, what the recording cuts'}
      {told.map((part, at) => (
        <>
          {at === 0 ? ': ' : ', '}
          <Window part={part} />
          {part.within && part.within.self > 0n && (
            <>
              {' ('}
              <Window part={part.within} />)
            </>
          )}
        </>
      ))}
      {told.length > 0 && rest > 0n && `, ${time(rest)} between them`}
      {'. '}
      <Link to={{ step: ALL_STEPS }}>The whole recording</Link>
    </p>
  );
}
