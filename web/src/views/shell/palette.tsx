/* ctrl K: every view, action and track by a few letters of its name; XProf's tool names too. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { go, runName } from '../../data/place';
import { useJson } from '../../data/resource';
import type { TrackList } from '../../data/types';
import { KEYS } from '../../model/keys';
import { matches } from '../../model/fuzzy';
import { useDialog } from '../../ui/dialog';
import { act, knows } from '../../ui/keys';
import { ENTRIES } from '../registry';

export const paletteOpen = signal(false);

interface Choice {
  words: string;
  hint: string;
  run: () => void;
}

const SHOWN_MAX = 60;

function choices(inRun: boolean, tracks: TrackList | null): Choice[] {
  const list: Choice[] = KEYS.filter((entry) => entry.action !== 'palette' && entry.action !== 'escape' && knows(entry.action)).map((entry) => ({
    words: entry.words, hint: entry.keys, run: () => void act(entry.action),
  }));
  if (inRun) {
    for (const { view, words, xprof } of ENTRIES)
      for (const name of xprof ?? []) list.push({ words: `${name} (${words})`, hint: 'XProf', run: () => go({ view }) });
    for (const track of tracks?.tracks ?? []) list.push({ words: track.name, hint: track.kind, run: () => go({ view: 'timeline', track: track.id, start_ps: null, end_ps: null }, 'push') });
  }
  return list;
}

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [entered, setEntered] = useState(false); // it waits for the tracks to come
  const open = paletteOpen.value;
  const dialog = useDialog(open, () => (paletteOpen.value = false));
  const inRun = runName.value !== null;
  const tracks = useJson<TrackList>(open && inRun ? 'api/tracks' : null, { run: runName.value });
  const awaited = inRun && tracks.data === null && tracks.error === null;
  useLayoutEffect(() => {
    if (!open) return;
    setText(''); // before the first letter is typed
    setAt(0);
    setEntered(false);
  }, [open]);
  const found = !open ? [] : choices(inRun, tracks.data).filter((choice) => matches(text, choice.words)).slice(0, SHOWN_MAX);
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
    <dialog {...dialog} class="palette" aria-label="Actions" onClick={(event) => event.target === dialog.ref.current && choose(undefined)}>
      <input
        type="text" role="combobox" aria-label="Action, view or track" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={`palette-${current}`}
        placeholder="action, view or track" autoFocus value={text} onKeyDown={key}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Actions">
        {found.map((choice, index) => (
          <li
            key={`${choice.words} ${choice.hint} ${index}`} id={`palette-${index}`} role="option" aria-selected={index === current}
            ref={(element) => void (index === current && element?.scrollIntoView({ block: 'nearest' }))} onClick={() => choose(choice)}
          >
            <bdi class="cut">{choice.words}</bdi>
            <kbd>{choice.hint}</kbd>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">Nothing is called so.</p>}
    </dialog>
  );
}
