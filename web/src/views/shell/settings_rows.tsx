/* SPDX-License-Identifier: Apache-2.0 */
/* What this browser remembers, with a word on each; the help shows the same rows as the page. */
import { EDITORS, isEditor } from '../../model/source';
import { TIME_UNITS } from '../../model/numbers';
import { change, PERFETTO_ORIGIN, settings, type Settings } from '../../ui/settings';

interface ChoiceProps {
  words: string;
  value: string;
  options: readonly (readonly [string, string])[];
  set: (value: string) => void;
}

function Choice({ words, value, options, set }: ChoiceProps) {
  return (
    <label>
      {words}{' '}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([key, shown]) => (
          <option key={key} value={key}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

export function SettingsRows() {
  const now = settings.value;
  const wrong = now.editor !== '' && !isEditor(now.editor);
  return (
    <div class="settings">
      <Choice
        words="theme"
        value={now.theme ?? ''}
        set={(theme) => change({ theme: (theme || null) as Settings['theme'] })}
        options={[
          ['', 'as the system'],
          ['light', 'light'],
          ['dark', 'dark'],
        ]}
      />
      <Choice
        words="contrast"
        value={now.contrast ?? ''}
        set={(contrast) => change({ contrast: (contrast || null) as Settings['contrast'] })}
        options={[
          ['', 'as the system'],
          ['more', 'more'],
        ]}
      />
      <Choice
        words="rows"
        value={now.rows}
        set={(rows) => change({ rows: rows as Settings['rows'] })}
        options={[
          ['dense', 'dense'],
          ['normal', 'normal'],
          ['tall', 'tall'],
        ]}
      />
      <Choice
        words="drag on the timeline"
        value={now.gestures ?? 'pan'}
        set={(gestures) => change({ gestures: gestures as Settings['gestures'] })}
        options={[
          ['pan', 'moves it; shift + drag selects'],
          ['select', 'selects, as in Perfetto; shift + drag moves it'],
        ]}
      />
      <Choice
        words="times in tables"
        value={now.unit}
        set={(unit) => change({ unit })}
        options={[['', 'the unit that fits'], ...TIME_UNITS.map((unit) => [unit, unit] as const)]}
      />
      <label>
        letter keys act{' '}
        <input
          type="checkbox"
          checked={now.letters}
          onChange={(event) => change({ letters: event.currentTarget.checked })}
        />
      </label>
      <label>
        Perfetto at{' '}
        <input
          type="text"
          value={now.perfetto}
          placeholder={PERFETTO_ORIGIN}
          onChange={(event) => change({ perfetto: event.currentTarget.value.replace(/\/+$/, '') || PERFETTO_ORIGIN })}
        />
      </label>
      <label>
        editor{' '}
        <input
          type="text"
          value={now.editor}
          placeholder="vscode://file/{file}:{line}"
          list="editors"
          aria-invalid={wrong}
          aria-describedby={wrong ? 'editor-fault' : undefined}
          onChange={(event) => change({ editor: event.currentTarget.value.trim() })}
        />
      </label>
      {wrong && (
        <p class="error" id="editor-fault" role="status">
          An address of an editor is needed that holds {'{file}'}, as vscode://file/{'{file}'}:{'{line}'}.
        </p>
      )}
      <datalist id="editors">
        {EDITORS.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}
