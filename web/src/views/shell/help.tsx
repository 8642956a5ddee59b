/* SPDX-License-Identifier: Apache-2.0 */
/* `?`: every key, from the list the page itself acts by. */
import { signal } from '@preact/signals';
import { helpLines, KEYS, type KeyEntry } from '../../model/keys';
import { useDialog } from '../../ui/dialog';
import { knows } from '../../ui/keys';
import { settings } from '../../ui/settings';
import { Link } from '../../ui/link';
import { SettingsRows } from './settings_rows';

export const helpOpen = signal(false);

const gestures = (selects: boolean): [string, string][] => [
  ['wheel', 'scroll the tracks; with ctrl: zoom'],
  [selects ? 'shift + drag' : 'drag', 'pan; a finger does the same, two pinch; the middle button too'],
  [selects ? 'drag' : 'shift + drag', 'area: range × tracks, snaps to slices'],
  ['on the steps', 'click: that step as the range; shift: to that step; double click: as the window'],
  ['on the ruler', 'range; with shift it snaps; an edge or the bar moves it'],
  ['click', 'focus and details; on nothing: focus off'],
  ['double click', 'window = this slice'],
  ['right click', 'menu; long press does the same'],
  ['on a name', 'click folds, drag reorders, tools pin and hide'],
];

function Section({ title, rows }: { title: string; rows: [string, string][] }) {
  return (
    <section>
      <h3 class="section">{title}</h3>
      <dl>
        {rows.map(([keys, words]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function SettingsSection() {
  return (
    <section>
      <h3 class="section">
        <Link to={{ view: 'settings' }} class="to-settings">
          Settings of this browser
        </Link>
      </h3>
      <SettingsRows />
    </section>
  );
}

export function Help() {
  const open = helpOpen.value;
  const dialog = useDialog(open, () => (helpOpen.value = false));
  /* Views that this program lacks have no key; the timeline's keys are told everywhere. */
  const told = KEYS.filter((entry) => !entry.action.startsWith('go-') || knows(entry.action));
  const groups = Map.groupBy(told, (entry: KeyEntry) => entry.group);
  return (
    <dialog
      {...dialog}
      class="help"
      aria-labelledby="help-title"
      onClick={(event) => (event.target as Element).closest('.to-settings') && (helpOpen.value = false)}
    >
      {open && (
        <>
          <h2 id="help-title" class="slice-name">
            Keys and gestures
          </h2>
          <div class="help-columns">
            {[...groups].map(([group, entries]) => (
              <Section key={group} title={group} rows={helpLines(entries).map((line) => [line.keys, line.words])} />
            ))}
            <Section title="Pointer on the timeline" rows={gestures(settings.value.gestures === 'select')} />
            <SettingsSection />
          </div>
          <button class="framed" onClick={() => (helpOpen.value = false)}>
            Close
          </button>
        </>
      )}
    </dialog>
  );
}
