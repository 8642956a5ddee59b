/* SPDX-License-Identifier: Apache-2.0 */
/* One listener for the whole page. A view registers what its actions do; the last registered that
 * knows an action gets it. Letters act outside text fields only. */
import { actionOf, isLetter, spell } from '../model/keys';
import { settings } from './settings';

export type Actions = Record<string, ((event: KeyboardEvent | null) => boolean | void) | undefined>;

const layers: Actions[] = [];
let before = '';

export function registerActions(actions: Actions): () => void {
  layers.push(actions);
  return () => {
    const index = layers.indexOf(actions);
    if (index >= 0) layers.splice(index, 1);
  };
}

/* Whether anything on the page does that. */
export function knows(action: string): boolean {
  return layers.some((layer) => layer[action] !== undefined);
}

/* A handler that returns false passes the action on to the layer below. */
export function act(action: string, event: KeyboardEvent | null = null): boolean {
  for (let index = layers.length - 1; index >= 0; index--) {
    const handler = layers[index]![action];
    if (handler && handler(event) !== false) return true;
  }
  return false;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}

/* Widgets that move by arrows themselves (tables, trees, menus) keep their keys. */
const OWN_KEYS = /^(arrow(up|down|left|right)|home|end|pageup|pagedown|enter)$/;

addEventListener('keydown', (event) => {
  const press = spell(event);
  const typing = isTyping(event.target);
  if (event.defaultPrevented || event.isComposing) return;
  if (typing && press !== 'escape' && press !== 'ctrl+k' && press !== 'ctrl+shift+p') return;
  if (document.querySelector('dialog[open]')) return; // the browser closes it at Esc, and nothing below it
  const target = event.target as Element | null;
  if (OWN_KEYS.test(press) && target?.closest?.('[role=grid],[role=tree],[role=menu],button,a')) return;
  if (isLetter(press) && !settings.value.letters && press !== '/' && press !== '?') return;
  const action = actionOf(press, before);
  before = action === null ? press : '';
  if (action !== null && act(action, event)) event.preventDefault();
});
