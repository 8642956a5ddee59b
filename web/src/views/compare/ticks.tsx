/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs ticked in the list are compared. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go } from '../../data/place';
import type { Run } from '../../data/types';
import { compareChange, inOrder } from '../../model/compare';
import { shown } from '../../model/cut';
import { registerActions } from '../../ui/keys';
import { say } from '../../ui/said';

const ticked = signal<readonly string[]>([]); // ids, the last two

export function toggleTick(run: Run): void {
  const now = ticked.value;
  ticked.value = now.includes(run.id) ? now.filter((id) => id !== run.id) : [...now, run.id].slice(-2);
}

export function Tick({ run }: { run: Run }) {
  return (
    <input
      type="checkbox"
      class="run-tick"
      tabIndex={-1}
      aria-label={`Compare ${shown(run.name)}`}
      checked={ticked.value.includes(run.id)}
      onChange={() => toggleTick(run)}
    />
  );
}

export function CompareTicked({ runs }: { runs: readonly Run[] }) {
  const chosen = ticked.value.flatMap((id) => runs.filter((run) => run.id === id));
  const nameOf = (run: Run): string =>
    runs.some((one) => one.name === run.name && one.id !== run.id) ? run.id : run.name;
  const compare = (): void => {
    const [one, other] = chosen;
    if (!one || !other) return say('Tick two runs to compare them.');
    const [a, b] = inOrder(one, other);
    go(compareChange(nameOf(a), nameOf(b)));
  };
  useEffect(() => registerActions({ compare }), [runs, ticked.value]);
  return (
    <button
      class="framed"
      aria-disabled={chosen.length < 2}
      data-tip={chosen.length < 2 ? 'Tick two runs' : undefined}
      onClick={compare}
    >
      {chosen.length === 0 ? 'Compare' : `Compare ${chosen.length}`}
    </button>
  );
}
