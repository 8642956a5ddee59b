/* SPDX-License-Identifier: Apache-2.0 */
/* Which run to compare with: those of the same series first, then the newest. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { serverNow } from '../../data/api';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import type { Run, RunList } from '../../data/types';
import { compareChange, inOrder, pickOrder, sideOf, sideWords } from '../../model/compare';
import { matches } from '../../model/fuzzy';
import { ago, plural, time } from '../../model/numbers';
import { useDialog } from '../../ui/dialog';
import { Waiting, Failed } from '../../ui/states';
import { Name } from '../../ui/text';

/* `replaces`: one side of a comparison; else the two are put in the order of their times. */
interface Picking {
  beside: string; // the run that stays
  replaces?: 'a' | 'b';
}

export const picking = signal<Picking | null>(null);

const RUNS_MAX = 2000;
const SHOWN_MAX = 60;

function compareWith({ beside, replaces }: Picking, run: Run, runs: readonly Run[]): void {
  const known = runs.find((one) => one.name === beside || one.id === beside);
  if (replaces === 'a') go(compareChange(run.name, beside));
  else if (replaces === 'b') go(compareChange(beside, run.name));
  else if (known) go(compareChange(...(inOrder(known, run).map((one) => one.name) as [string, string])));
  else go(compareChange(run.name, beside));
}

function Choices({ now }: { now: Picking }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useJson<RunList>('api/runs', { limit: RUNS_MAX });
  const runs = list.data?.runs ?? [];
  const beside = sideOf(now.beside).run;
  const found = pickOrder(runs, beside).filter((run) => matches(text, run.name));
  const current = Math.min(at, Math.max(0, found.length - 1));
  const choose = (run: Run | undefined): void => {
    picking.value = null;
    if (run) compareWith(now, run, runs);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, current - 1));
    else if (event.key === 'Enter') choose(found[current]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <label class="pick-label" for="pick-run">
        Compare {sideWords(now.beside)} with
      </label>
      <input
        id="pick-run"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="pick-list"
        aria-activedescendant={`pick-${current}`}
        placeholder="another run"
        autoFocus
        value={text}
        onKeyDown={key}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="pick-list" role="listbox" aria-label="Runs">
        {found.slice(0, SHOWN_MAX).map((run, index) => (
          <li
            key={run.id}
            id={`pick-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => choose(run)}
            ref={(element) => void (index === current && element?.scrollIntoView({ block: 'nearest' }))}
          >
            <span class="cut">
              <Name text={run.name} />
            </span>
            <span class="faint pick-facts">
              {[
                run.started_at === null ? '' : ago(new Date(run.started_at), serverNow()),
                run.step_median_ps === null ? 'no steps' : `${time(run.step_median_ps)} a step`,
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p class="quiet">and {plural(found.length - SHOWN_MAX, 'more run')}</p>}
      {list.data && found.length === 0 && (
        <p class="quiet">{runs.length <= 1 ? 'There is no other run.' : 'No run has that name.'}</p>
      )}
      {!list.data && list.waiting && <Waiting what="Looking for runs." progress={list.progress} />}
      {list.error && <Failed error={list.error} />}
    </>
  );
}

export function ComparePicker() {
  const now = picking.value;
  const dialog = useDialog(now !== null, () => (picking.value = null));
  return (
    <dialog
      {...dialog}
      class="palette"
      aria-label="Compare with"
      onClick={(event) => event.target === dialog.ref.current && (picking.value = null)}
    >
      {now && <Choices now={now} />}
    </dialog>
  );
}
