/* SPDX-License-Identifier: Apache-2.0 */
/* Where ops ran, where that is not on devices alone; what might be moved there. */
import type { Ps } from '../../data/json';
import { plural, share, time, toNumber } from '../../model/numbers';
import { Name } from '../../ui/text';

export interface Places {
  reason: string | null;
  total_ps: Ps;
  rows: {
    place: 'device' | 'host' | 'callback';
    self_ps: Ps | null;
    share: number | null;
    count: number | null;
    reason: string | null;
  }[];
  movable: { name: string; place: string; self_ps: Ps; count: number; why: string }[];
  movable_count: number;
  movable_ps: Ps;
}

const WORDS = { device: 'on devices', host: 'on the host', callback: 'in callbacks' };
const SHOWN = 3;

export function PlacesOfOps({ places }: { places: Places | undefined }) {
  if (!places || places.reason !== null) return null;
  const elsewhere = places.rows.some(
    (row) => row.place !== 'device' && row.self_ps !== null && toNumber(row.self_ps) > 0,
  );
  if (!elsewhere) return null;
  return (
    <section>
      <h2 class="section">Where ops ran</h2>
      <dl class="device-bars">
        {places.rows
          .filter((row) => row.self_ps !== null && toNumber(row.self_ps) > 0)
          .map((row) => (
            <div key={row.place}>
              <dt class="cut">{WORDS[row.place]}</dt>
              <dd data-tip={`${time(row.self_ps!)} of ${plural(row.count ?? 0, 'execution')}`}>
                <span class="bar-track" aria-hidden="true">
                  <span style={{ width: `${(row.share ?? 0) * 100}%` }} />
                </span>
                <span class="number">{share(row.share ?? 0)}</span>
              </dd>
            </div>
          ))}
      </dl>
      {places.movable.length > 0 && (
        <ul class="plain-list">
          {places.movable.slice(0, SHOWN).map((op) => (
            <li key={op.place + op.name}>
              <Name text={op.name} />{' '}
              <span class="quiet">
                {time(op.self_ps)}, could run on a device: {op.why}
              </span>
            </li>
          ))}
        </ul>
      )}
      {places.movable_count > SHOWN && (
        <p class="quiet">
          and {plural(places.movable_count - SHOWN, 'more op')}, {time(places.movable_ps)} in all
        </p>
      )}
    </section>
  );
}
