/* SPDX-License-Identifier: Apache-2.0 */
/* Theme, contrast, letter keys, height of rows and the like: the only things that are not in the address. */
import { effect, signal } from '@preact/signals';
import { query } from '../data/place';
import { TIME_UNITS, unitChoice } from '../model/numbers';

export interface Settings {
  theme: 'light' | 'dark' | null; // null: as the system has it
  contrast: 'more' | null; // null: as the system has it
  unit: string; // of times in tables; empty: what suits the values
  letters: boolean;
  rows: 'normal' | 'dense' | 'tall';
  perfetto: string;
  gestures: 'pan' | 'select' | null; // what a drag does (shift: the other); null: not chosen, it pans
  editor: string; // "vscode://file/{file}:{line}"; empty: no links
}

export const PERFETTO_ORIGIN = 'https://ui.perfetto.dev';
const DEFAULTS: Settings = {
  theme: null,
  contrast: null,
  unit: '',
  letters: true,
  rows: 'normal',
  gestures: null,
  perfetto: PERFETTO_ORIGIN,
  editor: '',
};

function read(): Settings {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem('jviewd') ?? '{}') as Partial<Settings>) };
  } catch {
    return DEFAULTS;
  }
}

export const settings = signal<Settings>(read());
export const theme = signal<'light' | 'dark'>(document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');

export function change(changes: Partial<Settings>): void {
  settings.value = { ...settings.value, ...changes };
  try {
    localStorage.setItem('jviewd', JSON.stringify(settings.value));
  } catch {
    // A browser without storage keeps the choice for this page only.
  }
}

const system = matchMedia('(prefers-color-scheme: dark)');

effect(() => {
  const chosen = settings.value.theme ?? (system.matches ? 'dark' : 'light');
  document.documentElement.dataset.theme = chosen;
  document.documentElement.dataset.rows = settings.value.rows;
  document.documentElement.dataset.contrast = settings.value.contrast ?? '';
  theme.value = chosen;
});
/* The address before the setting. */
effect(() => {
  const asked = query.value.units ?? settings.value.unit;
  unitChoice.value = TIME_UNITS.includes(asked === 'us' ? 'µs' : asked) ? (asked === 'us' ? 'µs' : asked) : null;
});
system.addEventListener('change', () => {
  settings.value = { ...settings.value };
});
