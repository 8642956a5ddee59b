/* Every key, once: the dispatcher, the palette and the help read this list. */

export interface KeyEntry {
  keys: string; // as shown
  match: string[]; // as events spell them; "shift+", "ctrl+" in front
  action: string;
  words: string;
  group: 'Everywhere' | 'Timeline: move' | 'Timeline: slices' | 'Timeline: ranges and search' | 'Go to';
}

const go = (letter: string, view: string): KeyEntry => ({
  keys: `G ${letter.toUpperCase()}`, match: [`g ${letter}`], action: `go-${view}`, words: view, group: 'Go to',
});

export const KEYS: KeyEntry[] = [
  { keys: 'ctrl K', match: ['ctrl+k'], action: 'palette', words: 'every action and tab', group: 'Everywhere' },
  { keys: '?', match: ['?'], action: 'help', words: 'these keys', group: 'Everywhere' },
  { keys: 'Y', match: ['y'], action: 'copy-link', words: 'copy link', group: 'Everywhere' },
  { keys: '/', match: ['/'], action: 'search', words: 'search or filter', group: 'Everywhere' },
  { keys: 'Esc', match: ['escape'], action: 'escape', words: 'close one layer', group: 'Everywhere' },
  go('r', 'runs'), go('o', 'overview'), go('t', 'timeline'), go('p', 'ops'), go('f', 'flame'), go('s', 'steps'), go('m', 'memory'), go('i', 'files'),
  { keys: 'W S', match: ['w'], action: 'zoom-in', words: 'zoom in, out', group: 'Timeline: move' },
  { keys: '', match: ['s'], action: 'zoom-out', words: '', group: 'Timeline: move' },
  { keys: 'A D', match: ['a'], action: 'pan-left', words: 'left, right an eighth; shift: half', group: 'Timeline: move' },
  { keys: '', match: ['d'], action: 'pan-right', words: '', group: 'Timeline: move' },
  { keys: '', match: ['shift+a'], action: 'pan-left-half', words: '', group: 'Timeline: move' },
  { keys: '', match: ['shift+d'], action: 'pan-right-half', words: '', group: 'Timeline: move' },
  { keys: 'PgUp PgDn', match: ['pageup'], action: 'scroll-up', words: 'scroll the tracks', group: 'Timeline: move' },
  { keys: '', match: ['pagedown'], action: 'scroll-down', words: '', group: 'Timeline: move' },
  { keys: 'Home End', match: ['home'], action: 'begin', words: 'begin, end of the run', group: 'Timeline: move' },
  { keys: '', match: ['end'], action: 'end', words: '', group: 'Timeline: move' },
  { keys: 'F Z 0', match: ['f'], action: 'zoom-focus', words: 'window = focus, range, whole run; again returns', group: 'Timeline: move' },
  { keys: '', match: ['z'], action: 'zoom-range', words: '', group: 'Timeline: move' },
  { keys: '', match: ['0'], action: 'zoom-all', words: '', group: 'Timeline: move' },
  { keys: '← →', match: ['arrowleft', ','], action: 'slice-before', words: 'slice before, after', group: 'Timeline: slices' },
  { keys: '', match: ['arrowright', '.'], action: 'slice-after', words: '', group: 'Timeline: slices' },
  { keys: '↑ ↓', match: ['arrowup'], action: 'slice-parent', words: 'parent, child', group: 'Timeline: slices' },
  { keys: '', match: ['arrowdown'], action: 'slice-child', words: '', group: 'Timeline: slices' },
  { keys: 'N P', match: ['n'], action: 'same-next', words: 'next, previous of the same name', group: 'Timeline: slices' },
  { keys: '', match: ['p'], action: 'same-previous', words: '', group: 'Timeline: slices' },
  { keys: '[ ]', match: ['['], action: 'flow-back', words: 'follow the flow back, forward', group: 'Timeline: slices' },
  { keys: '', match: [']'], action: 'flow-forward', words: '', group: 'Timeline: slices' },
  { keys: 'J K', match: ['j'], action: 'step-next', words: 'next, previous step', group: 'Timeline: slices' },
  { keys: '', match: ['k'], action: 'step-previous', words: '', group: 'Timeline: slices' },
  { keys: 'M', match: ['m'], action: 'range-focus', words: 'range = focus', group: 'Timeline: ranges and search' },
  { keys: 'shift M', match: ['shift+m'], action: 'range-keep', words: 'keep the range (focus, window) as a mark', group: 'Timeline: ranges and search' },
  { keys: 'I, shift I', match: ['i'], action: 'idle-next', words: 'next, previous idle gap above 1 % of the window', group: 'Timeline: ranges and search' },
  { keys: '', match: ['shift+i'], action: 'idle-previous', words: '', group: 'Timeline: ranges and search' },
  { keys: 'Enter', match: ['enter'], action: 'hit-next', words: 'next hit; shift: previous', group: 'Timeline: ranges and search' },
  { keys: '', match: ['shift+enter'], action: 'hit-previous', words: '', group: 'Timeline: ranges and search' },
];

/* Keys with a letter alone can be switched off; the named ones stay. */
export function isLetter(spelling: string): boolean {
  return /^(shift\+)?[a-z0-9[\],./?]$|^g [a-z]$/.test(spelling);
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

const ACTIONS = new Map(KEYS.flatMap((entry) => entry.match.map((match) => [match, entry.action] as const)));

/* `before`: the press before, for `G` and a letter. */
export function actionOf(press: string, before: string): string | null {
  return (before === 'g' ? ACTIONS.get(`g ${press}`) : undefined) ?? ACTIONS.get(press) ?? null;
}
