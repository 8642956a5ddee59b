/* SPDX-License-Identifier: Apache-2.0 */
/* Over the list of runs: the step time of the longest series over its number, and where it jumped.
 *
 *   91 ms |            o  o      a point is a link to its run
 *   22 ms | o  o  o  o           a jump is a link to the comparison of its two sides
 *          500       ...   2000
 */
import { follow, hrefOf } from '../../data/place';
import { useJson } from '../../data/resource';
import type { Run } from '../../data/types';
import { runChange, type Changes } from '../../model/address';
import { compareChange } from '../../model/compare';
import { shown } from '../../model/cut';
import { plural, share, significant, time } from '../../model/numbers';
import { seriesAmong, SERIES_MIN, type Series } from '../../model/series';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';

interface Jump {
  before: { id: string; name: string };
  run: { id: string; name: string };
  from: number | bigint;
  to: number | bigint;
  share: number | null;
}

const JUMPS_MAX = 3;
const WIDTH = 584;
const HEIGHT = 60;
const LEFT = 64;
const RIGHT = 24; // half a number
const BOTTOM = 16;
const TOP = 7;

const into = (run: Run): Changes => ({ ...runChange(run.name), view: null, q: null, sort: null, group: null });

function Picture({ series, jumps }: { series: Series; jumps: readonly Jump[] }) {
  const { runs } = series;
  const numbers = runs.map((one) => one.number);
  const values = runs.map((one) => one.step_ps);
  const first = Math.min(...numbers);
  const span = Math.max(...numbers) - first || 1;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const x = (number: number): number => LEFT + 6 + ((number - first) / span) * (WIDTH - LEFT - RIGHT - 6);
  const y = (value: number): number =>
    high === low ? (HEIGHT - BOTTOM) / 2 : TOP + (1 - (value - low) / (high - low)) * (HEIGHT - BOTTOM - 2 * TOP);
  const begins = new Set(jumps.map((jump) => jump.run.id));
  return (
    <svg
      class="runs-trend-picture"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="group"
      aria-label={`Step time of ${shown(series.stem)}`}
    >
      <text x={LEFT - 4} y={y(high) + 4} text-anchor="end">
        {time(high)}
      </text>
      {high > low && (
        <text x={LEFT - 4} y={y(low) + 4} text-anchor="end">
          {time(low)}
        </text>
      )}
      <polyline points={runs.map((one) => `${x(one.number).toFixed(1)},${y(one.step_ps).toFixed(1)}`).join(' ')} />
      <text x={x(first)} y={HEIGHT - 2} text-anchor="middle">
        {first}
      </text>
      <text x={x(first + span)} y={HEIGHT - 2} text-anchor="middle">
        {first + span}
      </text>
      {runs.map(({ run, number, step_ps }) => (
        <a
          key={run.id}
          href={hrefOf(into(run))}
          aria-label={`${shown(run.name)}, ${time(step_ps)} a step`}
          data-tip={`${shown(run.name)}: ${time(step_ps)} a step`}
          onClick={(event) => follow(event, into(run))}
        >
          <circle
            class={begins.has(run.id) ? 'jump' : undefined}
            cx={x(number)}
            cy={y(step_ps)}
            r={runs.length > 60 ? 2.5 : 4}
          />
        </a>
      ))}
    </svg>
  );
}

function JumpLine({ jump }: { jump: Jump }) {
  const [from, to] = [Number(jump.from), Number(jump.to)];
  const change =
    to >= 2 * from
      ? `${significant(to / from)} times`
      : jump.share === null
        ? ''
        : `${to > from ? '+' : '−'}${share(Math.abs(jump.share))}`;
  return (
    <li>
      Since <Name text={jump.run.name} />: {time(jump.from)} → {time(jump.to)}
      {change && ` (${change})`}
      <Link to={compareChange(jump.before.name, jump.run.name)}>compare</Link>
    </li>
  );
}

export const isSeries = (runs: readonly Run[]): boolean => (seriesAmong(runs)[0]?.runs.length ?? 0) >= SERIES_MIN;

/* Also of runs that are no series: over the time of their capture. */
export const TrendLink = () => <Link to={{ view: 'trend', q: null, sort: null, group: null, like: null }}>trend</Link>;

export function RunsTrend({ runs }: { runs: readonly Run[] }) {
  const series = seriesAmong(runs)[0];
  const enough = series !== undefined && series.runs.length >= SERIES_MIN;
  const trend = useJson<{ jumps: Jump[] }>(enough ? 'api/trend' : null, {
    metric: 'step_time',
    like: series?.stem,
    limit: 1,
  });
  if (!enough) return null;
  const ids = new Set(series.runs.map((one) => one.run.id));
  const jumps = (trend.data?.jumps ?? []).filter((jump) => ids.has(jump.run.id) && ids.has(jump.before.id));
  return (
    <figure class="runs-trend">
      <figcaption>
        step time of <Name text={series.stem} />, <span class="faint">{plural(series.runs.length, 'run')}</span>{' '}
        <TrendLink />
      </figcaption>
      <Picture series={series} jumps={jumps} />
      {jumps.length > 0 && (
        <ul>
          {jumps.slice(-JUMPS_MAX).map((jump) => (
            <JumpLine key={jump.run.id} jump={jump} />
          ))}
        </ul>
      )}
    </figure>
  );
}
