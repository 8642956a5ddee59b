/* SPDX-License-Identifier: Apache-2.0 */
/* Every action, once: the dispatcher, the palette and the help read this list. */
import letters from './views.json';

export type Group =
  'Everywhere' | 'Timeline: move' | 'Timeline: slices' | 'Timeline: ranges and search' | 'Flame' | 'Tables' | 'Go to';

export interface KeyEntry {
  keys: string; // as shown; '' where only the palette has it
  match: string[]; // as events spell them; "shift+", "ctrl+" in front
  action: string;
  words: string;
  group: Group;
  pair?: string; // neighbours with one pair stand in one line of the help, under these words
}

const entry = (
  group: Group,
  keys: string,
  match: string[],
  action: string,
  words: string,
  pair?: string,
): KeyEntry => ({
  keys,
  match,
  action,
  words,
  group,
  ...(pair === undefined ? {} : { pair }),
});

const all = entry.bind(null, 'Everywhere');
const move = entry.bind(null, 'Timeline: move');
const slices = entry.bind(null, 'Timeline: slices');
const ranges = entry.bind(null, 'Timeline: ranges and search');
const flame = entry.bind(null, 'Flame');
const tables = entry.bind(null, 'Tables');

const LETTERS = Object.entries({ runs: 'g', ...letters }).filter(([, letter]) => letter !== '');
const VIEW_WORDS: Partial<Record<string, string>> = { hlo: 'HLO', sql: 'SQL' };

export const KEYS: KeyEntry[] = [
  all('ctrl K', ['ctrl+k', 'ctrl+shift+p'], 'palette', 'every action, view and track; ctrl shift P too'),
  all('?', ['?'], 'help', 'keys and settings'),
  all('/', ['/'], 'search', 'search or filter'),
  all('Y', ['y'], 'copy-link', 'copy link'),
  all('C', ['c'], 'compare', 'compare with another run'),
  all('', [], 'compare-swap', 'swap A and B of the comparison'),
  all('\\', ['\\'], 'dock', 'details at the right, or below'),
  all('Esc', ['escape'], 'escape', 'close one layer'),
  all('', [], 'note', 'write a note or a #tag'),
  all('', [], 'short-link', 'copy a short link'),
  all('', [], 'perfetto', 'open in Perfetto'),
  all('', [], 'save-png', 'save what is seen as PNG'),
  all('', [], 'save-svg', 'save what is seen as SVG'),
  all('', [], 'open-file', 'open a file of this computer'),
  all('', [], 'capture', 'capture running programs'),
  all('', [], 'settings', 'settings'),
  all('', [], 'theme', 'light or dark theme'),
  all('', [], 'rows-dense', 'dense rows on the timeline'),
  all('', [], 'rows-normal', 'normal rows on the timeline'),
  all('', [], 'rows-tall', 'tall rows on the timeline'),
  all('', [], 'letters', 'letter keys on or off'),
  ...LETTERS.map(([view, letter]) =>
    entry(
      'Go to',
      `G ${letter.toUpperCase()}${view === 'sql' ? ' :' : ''}`,
      [`g ${letter}`, ...(view === 'sql' ? [':'] : [])],
      `go-${view}`,
      VIEW_WORDS[view] ?? view,
    ),
  ),
  move('W', ['w'], 'zoom-in', 'zoom in', 'zoom in, out'),
  move('S', ['s'], 'zoom-out', 'zoom out', 'zoom in, out'),
  move('A', ['a'], 'pan-left', 'left an eighth', 'left, right an eighth; shift: half'),
  move('D', ['d'], 'pan-right', 'right an eighth', 'left, right an eighth; shift: half'),
  move('', ['shift+a'], 'pan-left-half', 'left half a window'),
  move('', ['shift+d'], 'pan-right-half', 'right half a window'),
  move('shift C', ['shift+c'], 'colour', 'colour by kind, name or self time'),
  move('', [], 'path', 'critical path above the tracks'),
  move('Q', ['q'], 'drawer', 'details closed, or open again'),
  move('L', ['l'], 'legend', 'legend of the colours on the screen'),
  move('', [], 'clock', 'times of day on the ruler, or from the start'),
  move('PgUp', ['pageup'], 'scroll-up', 'scroll the tracks up', 'scroll the tracks'),
  move('PgDn', ['pagedown'], 'scroll-down', 'scroll the tracks down', 'scroll the tracks'),
  move('Home', ['home'], 'begin', 'start of the run', 'start, end of the run'),
  move('End', ['end'], 'end', 'end of the run', 'start, end of the run'),
  move('F', ['f'], 'zoom-focus', 'window = focus', 'window = focus, range, whole run; again returns'),
  move('Z', ['z'], 'zoom-range', 'window = range', 'window = focus, range, whole run; again returns'),
  move('0', ['0'], 'zoom-all', 'window = whole run', 'window = focus, range, whole run; again returns'),
  slices('←', ['arrowleft', ','], 'slice-before', 'slice before', 'slice before, after'),
  slices('→', ['arrowright', '.'], 'slice-after', 'slice after', 'slice before, after'),
  slices('↑', ['arrowup'], 'slice-parent', 'parent', 'parent, child'),
  slices('↓', ['arrowdown'], 'slice-child', 'child', 'parent, child'),
  slices('N', ['n'], 'same-next', 'next of the same name', 'next, previous of the same name'),
  slices('P', ['p'], 'same-previous', 'previous of the same name', 'next, previous of the same name'),
  slices(
    '[',
    ['['],
    'flow-back',
    'back along the critical path, else the flow',
    'along the critical path, else the flow',
  ),
  slices(
    ']',
    [']'],
    'flow-forward',
    'on along the critical path, else the flow',
    'along the critical path, else the flow',
  ),
  slices('B', ['b'], 'chain', 'what the focus waited for'),
  slices('J', ['j'], 'step-next', 'next step', 'next, previous step'),
  slices('K', ['k'], 'step-previous', 'previous step', 'next, previous step'),
  slices('I', ['i'], 'idle-next', 'next idle gap', 'next, previous idle gap above 1 % of the window'),
  slices(
    'shift I',
    ['shift+i'],
    'idle-previous',
    'previous idle gap',
    'next, previous idle gap above 1 % of the window',
  ),
  ranges('M', ['m'], 'range-focus', 'range = focus'),
  ranges('U', ['u'], 'range-step', 'range = step under the pointer'),
  ranges('shift M', ['shift+m'], 'range-keep', 'keep the range as a mark'),
  ranges('Enter', ['enter'], 'hit-next', 'next hit', 'next hit; shift: previous'),
  ranges('', ['shift+enter'], 'hit-previous', 'previous hit'),
  flame('1', ['1'], 'flame-time', 'in order of time'),
  flame('2', ['2'], 'flame-heavy', 'the heaviest left'),
  flame('3', ['3'], 'flame-names', 'every name, its callers and callees'),
  /* A table acts on these itself while it has the focus. */
  tables('↑ ↓', [], 'table-rows', 'rows; page, Home and End as well'),
  tables('← →', [], 'table-cells', 'cells; fold, unfold a group'),
  tables('Enter', [], 'table-open', 'go on from the row'),
  tables('Space', [], 'table-tick', 'tick the run'),
  tables('T', [], 'table-show', 'show the row on the timeline'),
  tables("' a b c", [], 'table-type', 'go to the row whose name begins with these letters'),
  tables('ctrl C', [], 'table-copy', 'copy the table as TSV'),
  tables('ctrl shift C', [], 'table-markdown', 'copy the table as Markdown'),
];

/* Lines of the help: those with keys, pairs joined. */
export function helpLines(entries: readonly KeyEntry[]): { keys: string; words: string }[] {
  const lines: { keys: string; words: string; pair: string | undefined }[] = [];
  for (const { keys, words, pair } of entries) {
    if (keys === '') continue;
    const last = lines.at(-1);
    if (last && pair !== undefined && last.pair === pair) last.keys += ` ${keys}`;
    else lines.push({ keys, words: pair ?? words, pair });
  }
  return lines.map(({ keys, words }) => ({ keys, words }));
}

/* Keys with a letter alone can be switched off; the named ones stay. */
export function isLetter(spelling: string): boolean {
  return /^(shift\+)?[a-z0-9[\],./?\\:]$|^g [a-z]$/.test(spelling);
}

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

export function spell(event: KeyPress): string {
  const key = event.key.toLowerCase();
  const printable = event.key.length === 1 && !/[a-z]/i.test(event.key);
  const shift = event.shiftKey && !printable ? 'shift+' : '';
  return `${event.ctrlKey || event.metaKey ? 'ctrl+' : ''}${event.altKey ? 'alt+' : ''}${shift}${key}`;
}

const ACTIONS = new Map(KEYS.flatMap((one) => one.match.map((match) => [match, one.action] as const)));

/* `before`: the press before, for `G` and a letter. */
export function actionOf(press: string, before: string): string | null {
  return (before === 'g' ? ACTIONS.get(`g ${press}`) : undefined) ?? ACTIONS.get(press) ?? null;
}
