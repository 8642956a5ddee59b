/* SPDX-License-Identifier: Apache-2.0 */
/* At the left of the runs: what parts them. A click writes the word into the filter. */
import { useState } from 'preact/hooks';
import type { Run } from '../../data/types';
import { facetsOf, hasToken, toggleToken } from '../../model/facets';
import { count } from '../../model/numbers';
import type { FilterState } from '../../ui/filter_field';
import { RoomContext, type Room } from '../../ui/fit';
import { Icon } from '../../ui/icons';
import { Name } from '../../ui/text';

const SHOWN_AT_ONCE = 6;
const ROOM: Room = { pixels: 156, front: false }; // of the column that the style gives them

export function Facets({ runs, filter }: { runs: readonly Run[]; filter: FilterState }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [sheet, setSheet] = useState(false);
  const facets = facetsOf(runs);
  if (facets.length === 0) return null;
  const toggle = (name: string): void => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  return (
    <div class={sheet ? 'facets open' : 'facets'} role="group" aria-label="Narrow the runs">
      <button class="framed facets-button" aria-expanded={sheet} onClick={() => setSheet(!sheet)}>
        narrow
        <Icon name="down" />
      </button>
      <div class="facets-body">
        {facets.map((facet) => {
          const chosen = facet.values.some((one) => hasToken(filter.text, one.token));
          const unfolded = open.has(facet.name) !== (facet.values.length <= SHOWN_AT_ONCE || chosen);
          return (
            <section key={facet.name}>
              <button class="facet-head" aria-expanded={unfolded} onClick={() => toggle(facet.name)}>
                <Icon name={unfolded ? 'down' : 'right'} />
                {facet.name}
                <span class="faint">{count(facet.values.length)}</span>
              </button>
              {unfolded &&
                facet.values.map((one) => (
                  <button
                    key={one.value}
                    class="facet-value"
                    aria-pressed={hasToken(filter.text, one.token)}
                    data-tip={one.value}
                    onClick={() => filter.set(toggleToken(filter.text, one.token))}
                  >
                    <span class="cut">
                      <RoomContext.Provider value={ROOM}>
                        <Name text={one.value} />
                      </RoomContext.Provider>
                    </span>
                    <span class="faint">{count(one.count)}</span>
                  </button>
                ))}
            </section>
          );
        })}
      </div>
    </div>
  );
}
