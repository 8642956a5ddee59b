/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a run, and what they are narrowed to. A view without data says why. */
import { useEffect, useRef } from 'preact/hooks';
import { go, query, view } from '../../data/place';
import { absence, type RunDetails } from '../../data/types';
import { ALL_STEPS, isOfCounted, RESTRICTION, rangeOf, type Changes } from '../../model/address';
import { shortScope, shown } from '../../model/cut';
import { plural, time } from '../../model/numbers';
import { Icon } from '../../ui/icons';
import { Link } from '../../ui/link';
import { ENTRIES, entryOf } from '../registry';

export function Tabs({ run }: { run: RunDetails }) {
  const nav = useRef<HTMLElement>(null);
  const current = entryOf(view.value).view;
  /* Where they scroll, the one that is shown is seen. */
  useEffect(
    () => nav.current!.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [current],
  );
  return (
    <div class="tabs">
      <nav ref={nav} aria-label="Views of the run">
        {ENTRIES.map(({ view: one, words }) => {
          const absent = absence(run, one);
          return (
            <Link
              key={one}
              to={{ view: one, zoom: null, key: null, columns: null, group: null }}
              current={current === one}
              class={absent ? 'absent' : undefined}
              title={absent ?? undefined}
            >
              {words}
              {absent && ' –'}
            </Link>
          );
        })}
      </nav>
      <Chips run={run} />
    </div>
  );
}

function Chip({ words, changes }: { words: string; changes: Changes }) {
  return (
    <span class="chip">
      <bdi class="cut">{words}</bdi>
      <button aria-label={`Remove ${words}`} onClick={() => go(changes)}>
        <Icon name="close" />
      </button>
    </span>
  );
}

/* Pages whose sums are of the steps that count, unless something else is asked for. */
const OF_COUNTED = new Set(['ops', 'flame', 'kernels', 'roofline']);

function Chips({ run }: { run: RunDetails }) {
  const range = rangeOf(query.value);
  const chips: { words: string; changes: Changes }[] = [];
  if (OF_COUNTED.has(view.value) && isOfCounted(query.value) && run.step_median_ps !== null)
    chips.push({ words: 'counted steps', changes: { step: ALL_STEPS } });
  for (const key of RESTRICTION) {
    const value = query.value[key];
    if (value === undefined || key === 'start_ps' || key === 'end_ps') continue;
    if (key === 'step' && value === ALL_STEPS && !OF_COUNTED.has(view.value)) continue;
    const words =
      {
        step: value === ALL_STEPS ? 'whole recording' : `steps ${value}`,
        track: `${plural(value.split(',').length, 'track')}`,
        device: `device ${value}`,
        scope: shortScope(value),
        name: shown(value),
      }[key as string] ?? `${key} ${shown(value)}`;
    chips.push({ words, changes: { [key]: null } });
  }
  if (range)
    chips.push({ words: `${time(range.start)} … ${time(range.end)}`, changes: { start_ps: null, end_ps: null } });
  const hidden = (query.value.hide ?? '').split(',').filter(Boolean).length;
  if (hidden > 0 && view.value === 'timeline')
    chips.push({ words: `${plural(hidden, 'track')} hidden`, changes: { hide: null } });
  if (chips.length === 0) return null;
  return (
    <div class="chips" role="region" aria-label="Narrowed to">
      {chips.map((chip) => (
        <Chip key={chip.words} {...chip} />
      ))}
    </div>
  );
}
