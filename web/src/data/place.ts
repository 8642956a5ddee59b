/* SPDX-License-Identifier: Apache-2.0 */
/* Where the reader is: the address as a signal, and the one way to change it. */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { changed, formatQuery, isPlaceChange, parseQuery, type Changes, type Query, type View } from '../model/address';

export const query = signal<Query>(parseQuery(location.search));

export const runName = computed(() => query.value.run ?? null);
export const view = computed<View>(() => (query.value.view as View | undefined) ?? 'overview');

/* What a part of the address tells: made anew when that part is another, not whenever anything is. */
export function fromAddress<T>(
  part: (query: Query) => string | undefined,
  make: (text: string | undefined) => T,
): ReadonlySignal<T> {
  const text = computed(() => part(query.value));
  return computed(() => make(text.value));
}
/* One word of it. */
export const word = (key: string): ReadonlySignal<string | undefined> => computed(() => query.value[key]);

addEventListener('popstate', () => {
  query.value = parseQuery(location.search);
});

export function hrefOf(changes: Changes): string {
  return formatQuery(changed(query.value, changes));
}

/* A page that stands alone has not all places: nothing leads where it has no answer. */
let reaches = (_next: Query): boolean => true;
export const reachBy = (test: typeof reaches): void => void (reaches = test);
export const isReached = (changes: Changes): boolean => reaches(changed(query.value, changes));

/* Pushes when that is another place, else replaces: back goes to the last place. */
export function go(changes: Changes, how: 'auto' | 'replace' | 'push' = 'auto'): void {
  const next = changed(query.value, changes);
  const href = formatQuery(next);
  if (href === formatQuery(query.value) || !reaches(next)) return;
  const push = how === 'push' || (how === 'auto' && isPlaceChange(query.value, next));
  if (push) history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  query.value = next;
}

/* For links: a plain click changes the page in place, every other goes the browser's way. */
export function follow(event: MouseEvent, changes: Changes): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  event.preventDefault();
  go(changes, 'push');
}
