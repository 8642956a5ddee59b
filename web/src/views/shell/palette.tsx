/* SPDX-License-Identifier: Apache-2.0 */
/* ctrl K: every view, action, run, download and track by a few letters of its name; XProf's tool names too. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { go, query, runName } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunDetails, RunList, TrackList } from '../../data/types';
import { runChange } from '../../model/address';
import { shown } from '../../model/cut';
import { time } from '../../model/numbers';
import { KEYS } from '../../model/keys';
import { ranked } from '../../model/fuzzy';
import { useDialog } from '../../ui/dialog';
import { act, knows } from '../../ui/keys';
import { ENTRIES } from '../registry';
import { downloadsOf } from './download';

export const paletteOpen = signal(false);

interface Choice {
  words: string;
  hint: string;
  run: () => void;
}

const SHOWN_MAX = 60;
const RUNS_MAX = 200;

/* The browser saves it as the link in the menu does. */
function save(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}

function actions(): Choice[] {
  return KEYS.filter((entry) => entry.action !== 'palette' && entry.action !== 'escape' && knows(entry.action)).map(
    (entry) => ({ words: entry.words, hint: entry.keys, run: () => void act(entry.action) }),
  );
}

function ofRun(run: RunDetails | null, tracks: TrackList | null): Choice[] {
  const tools = ENTRIES.flatMap(({ view, words, xprof = [] }) =>
    xprof.map((name): Choice => ({ words: `${name} (${words})`, hint: 'XProf', run: () => go({ view }) })),
  );
  const files =
    run === null || run.content_id === null
      ? []
      : downloadsOf(run).map(([words, href, name]): Choice => ({
          words: `download: ${words}`,
          hint: '',
          run: () => save(href, name),
        }));
  const named = (tracks?.tracks ?? []).map((track): Choice => ({
    words: track.name,
    hint: track.kind,
    run: () => go({ view: 'timeline', track: track.id, start_ps: null, end_ps: null }, 'push'),
  }));
  return [...tools, ...files, ...named];
}

function otherRuns(list: RunList | null, now: string | null): Choice[] {
  return (list?.runs ?? [])
    .filter((run) => run.name !== now && run.id !== now)
    .map((run) => ({
      words: shown(run.name),
      hint: run.step_median_ps === null ? 'run' : `run, ${time(run.step_median_ps)}`,
      run: () =>
        go({ ...runChange(run.name), view: query.value.view === 'runs' ? null : (query.value.view ?? null) }, 'push'),
    }));
}

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [entered, setEntered] = useState(false); // it waits for the tracks to come
  const open = paletteOpen.value;
  const dialog = useDialog(open, () => (paletteOpen.value = false));
  const inRun = runName.value !== null;
  const tracks = useJson<TrackList>(open && inRun ? 'api/tracks' : null, { run: runName.value });
  const run = useJson<RunDetails>(open && inRun ? 'api/run' : null, { run: runName.value });
  const runs = useJson<RunList>(open ? 'api/runs' : null, { limit: RUNS_MAX });
  const missing = (of: { data: unknown; error: Error | null }): boolean => of.data === null && of.error === null;
  const awaited = missing(runs) || (inRun && missing(tracks));
  useLayoutEffect(() => {
    if (!open) return;
    setText(''); // before the first letter is typed
    setAt(0);
    setEntered(false);
  }, [open]);
  const all = open
    ? [...actions(), ...(inRun ? ofRun(run.data, tracks.data) : []), ...otherRuns(runs.data, runName.value)]
    : [];
  const found = ranked(text, all, (choice) => choice.words).slice(0, SHOWN_MAX);
  const current = Math.min(at, Math.max(0, found.length - 1));
  const choose = (choice: Choice | undefined): void => {
    paletteOpen.value = false;
    if (choice) setTimeout(choice.run);
  };
  useEffect(() => {
    if (!entered || awaited) return;
    setEntered(false);
    choose(found[current]);
  }, [entered, awaited]);
  if (!open) return <dialog {...dialog} class="palette" aria-label="Actions" />;
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, current - 1));
    else if (event.key === 'Enter') setEntered(true);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      {...dialog}
      class="palette"
      aria-label="Actions"
      onClick={(event) => event.target === dialog.ref.current && choose(undefined)}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Action, view, run or track"
        aria-expanded={found.length > 0}
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `palette-${current}` : undefined}
        placeholder="action, view, run or track"
        autoFocus
        value={text}
        onKeyDown={key}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Actions">
        {found.map((choice, index) => (
          <li
            key={`${choice.words} ${choice.hint} ${index}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            ref={(element) => void (index === current && element?.scrollIntoView({ block: 'nearest' }))}
            onClick={() => choose(choice)}
          >
            <bdi class="cut">{choice.words}</bdi>
            <kbd>{choice.hint}</kbd>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {found.length === 0 ? 'Nothing is called so.' : <span class="hidden-text">{`${found.length} found`}</span>}
      </p>
    </dialog>
  );
}
