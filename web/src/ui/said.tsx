/* SPDX-License-Identifier: Apache-2.0 */
/* A word after an action that shows nothing else: for eyes and ears, gone after a moment. */
import { signal } from '@preact/signals';

const SHOWN_MS = 4000;

const said = signal('');
let timer = 0;

export function say(words: string): void {
  said.value = words;
  clearTimeout(timer);
  timer = window.setTimeout(() => (said.value = ''), SHOWN_MS);
}

export function Said() {
  return (
    <div class={said.value === '' ? 'said hidden-text' : 'said'} role="status">
      {said.value}
    </div>
  );
}
