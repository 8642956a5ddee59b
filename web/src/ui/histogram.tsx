/* SPDX-License-Identifier: Apache-2.0 */
/* How durations lie, as 32 bars; the one in which `own` lies is in ink. */
import type { Histogram } from '../data/types';
import type { Ps } from '../data/json';
import { count, time, toNumber } from '../model/numbers';

/* The step of the histogram in which a duration lies. */
function stepOf(bounds: readonly Ps[], dur: number): number {
  const at = bounds.findLastIndex((bound) => toNumber(bound) <= dur);
  return Math.max(0, Math.min(bounds.length - 2, at));
}

export function DurationBars({ of, own = null }: { of: Histogram; own?: Ps | null }) {
  const { bounds_ps: bounds, counts } = of;
  const most = Math.max(...counts);
  const all = counts.reduce((sum, value) => sum + value, 0);
  const at = own === null ? counts.indexOf(most) : stepOf(bounds, toNumber(own));
  const words =
    `${time(bounds[0]!)} to ${time(bounds.at(-1)!)}; ${count(counts[at]!)} of ${count(all)} ` +
    `took ${time(bounds[at]!)} to ${time(bounds[at + 1]!)}${own === null ? '' : ', as this one'}`;
  return (
    <span class="mates" data-tip={words}>
      <svg width={counts.length * 4} height="16" role="img" aria-label={words}>
        {counts.map((value, index) => {
          const height = value === 0 ? 0 : Math.max(2, Math.round((14 * value) / most));
          const isOwn = own !== null && index === at;
          return (
            <rect
              key={index}
              class={isOwn ? 'own' : undefined}
              x={index * 4}
              y={16 - Math.max(height, isOwn ? 2 : 1)}
              width="3"
              height={Math.max(height, isOwn ? 2 : 1)}
            />
          );
        })}
        {own !== null && <path d={`M${at * 4 - 2} 0h7l-3.5 3z`} />}
      </svg>
    </span>
  );
}
