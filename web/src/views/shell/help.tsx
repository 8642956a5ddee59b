/* `?`: every key, from the list the page itself acts by. */
import { signal } from '@preact/signals';
import { helpLines, KEYS, type KeyEntry } from '../../model/keys';
import { useDialog } from '../../ui/dialog';
import { knows } from '../../ui/keys';
import { EDITORS, isEditor } from '../../model/source';
import { change, PERFETTO_ORIGIN, settings } from '../../ui/settings';

export const helpOpen = signal(false);

const GESTURES: [string, string][] = [
  ['wheel', 'scroll the tracks; with ctrl: zoom'],
  ['drag', 'pan; a finger does the same, two pinch'],
  ['shift + drag', 'box: range × tracks, snaps to slices'],
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
  const now = settings.value;
  return (
    <section>
      <h3 class="section">Settings of this browser</h3>
      <p>
        <label>
          theme{' '}
          <select value={now.theme ?? 'system'} onChange={(event) => change({ theme: event.currentTarget.value === 'system' ? null : (event.currentTarget.value as 'light' | 'dark') })}>
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
      </p>
      <p>
        <label>
          <input type="checkbox" checked={now.letters} onChange={(event) => change({ letters: event.currentTarget.checked })} /> letter keys act
        </label>
      </p>
      <p>
        <label>
          rows{' '}
          <select value={now.rows} onChange={(event) => change({ rows: event.currentTarget.value as typeof now.rows })}>
            <option value="dense">dense</option>
            <option value="normal">normal</option>
            <option value="tall">tall</option>
          </select>
        </label>
      </p>
      <p>
        <label>
          Perfetto at{' '}
          <input type="text" value={now.perfetto} onChange={(event) => change({ perfetto: event.currentTarget.value.replace(/\/+$/, '') || PERFETTO_ORIGIN })} />
        </label>
      </p>
      <p>
        <label>
          editor{' '}
          <input
            type="text" value={now.editor} placeholder="vscode://file/{file}:{line}" list="editors" aria-invalid={now.editor !== '' && !isEditor(now.editor)}
            onChange={(event) => change({ editor: event.currentTarget.value.trim() })}
          />
        </label>
        <datalist id="editors">
          {EDITORS.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </p>
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
    <dialog {...dialog} class="help" aria-labelledby="help-title">
      {open && (
        <>
          <h2 id="help-title" class="slice-name">
            Keys and gestures
          </h2>
          <div class="help-columns">
            {[...groups].map(([group, entries]) => (
              <Section key={group} title={group} rows={helpLines(entries).map((line) => [line.keys, line.words])} />
            ))}
            <Section title="Pointer on the timeline" rows={GESTURES} />
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
