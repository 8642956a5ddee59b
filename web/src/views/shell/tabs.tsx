/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a run, and what they are narrowed to. A view without data says why. */
import { useEffect, useRef } from 'preact/hooks';
import { go, query, view } from '../../data/place';
import { absence, type RunDetails } from '../../data/types';
import { RESTRICTION, rangeOf } from '../../model/address';
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
      <Chips />
    </div>
  );
}

function Chip({ words, keys }: { words: string; keys: readonly string[] }) {
  return (
    <span class="chip">
      <bdi class="cut">{words}</bdi>
      <button aria-label={`Remove ${words}`} onClick={() => go(Object.fromEntries(keys.map((key) => [key, null])))}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function Chips() {
  const range = rangeOf(query.value);
  const chips: { words: string; keys: string[] }[] = [];
  for (const key of RESTRICTION) {
    const value = query.value[key];
    if (value === undefined || key === 'start_ps' || key === 'end_ps') continue;
    const words =
      {
        step: `steps ${value}`,
        track: `${plural(value.split(',').length, 'track')}`,
        device: `device ${value}`,
        scope: shortScope(value),
        name: shown(value),
      }[key as string] ?? `${key} ${shown(value)}`;
    chips.push({ words, keys: [key] });
  }
  if (range) chips.push({ words: `${time(range.start)} … ${time(range.end)}`, keys: ['start_ps', 'end_ps'] });
  const hidden = (query.value.hide ?? '').split(',').filter(Boolean).length;
  if (hidden > 0 && view.value === 'timeline')
    chips.push({ words: `${plural(hidden, 'track')} hidden`, keys: ['hide'] });
  if (chips.length === 0) return null;
  return (
    <div class="chips" role="group" aria-label="Narrowed to">
      {chips.map((chip) => (
        <Chip key={chip.words} {...chip} />
      ))}
    </div>
  );
}
