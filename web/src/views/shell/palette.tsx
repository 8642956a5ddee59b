/* ctrl K: every view, action and track by a few letters of its name; XProf's tool names too. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
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

function choices(tracks: TrackList | null): Choice[] {
  const list: Choice[] = KEYS.filter((entry) => entry.action !== 'palette' && entry.action !== 'escape' && knows(entry.action)).map((entry) => ({
    words: entry.words, hint: entry.keys, run: () => void act(entry.action),
  }));
  if (tracks) {
    for (const { view, words, xprof } of ENTRIES)
      for (const name of xprof ?? []) list.push({ words: `${name} (${words})`, hint: 'XProf', run: () => go({ view }) });
    for (const track of tracks.tracks) list.push({ words: track.name, hint: track.kind, run: () => go({ view: 'timeline', track: track.id, start_ps: null, end_ps: null }, 'push') });
  }
  return list;
}

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const open = paletteOpen.value;
  const dialog = useDialog(open, () => (paletteOpen.value = false));
  const tracks = useJson<TrackList>(open && runName.value !== null ? 'api/tracks' : null, { run: runName.value });
  useEffect(() => {
    if (!open) return;
    setText('');
    setAt(0);
  }, [open]);
  if (!open) return <dialog {...dialog} class="palette" aria-label="Actions" />;
  const found = choices(tracks.data).filter((choice) => matches(text, choice.words)).slice(0, SHOWN_MAX);
  const current = Math.min(at, Math.max(0, found.length - 1));
  const choose = (choice: Choice | undefined): void => {
    paletteOpen.value = false;
    if (choice) setTimeout(choice.run);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, current - 1));
    else if (event.key === 'Enter') choose(found[current]);
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
