/* SPDX-License-Identifier: Apache-2.0 */
/* The pane below the tracks: this slice, the range or the window, its slices, the search. */
import { effect, untracked } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, query, word } from '../../data/place';
import type { Span } from '../../model/address';
import { count } from '../../model/numbers';
import { endOf, startOf } from '../../model/viewport';
import { act, registerActions } from '../../ui/keys';
import { say } from '../../ui/said';
import { copyText } from '../../ui/text';
import { useTyped } from '../../ui/typed';
import { FlamePane } from './flame_pane';
import { GestureOffer } from './gesture_offer';
import { PieceLine } from './path_row';
import { SearchPane, type useSearch } from './search_pane';
import { SlicesPane } from './slices_pane';
import { SlicePane } from './slice_pane';
import type { Tab, TimelineState } from './state';
import { WindowPane } from './window_pane';

const found = word('find');
const SETTLE_MS = 200;
const FOLLOW_MS = 33;

/* The window once it has come to rest; a range also while it is dragged, thirty times a second at most:
 * tables do not follow every frame, and ask no faster than they are answered (useSteady). */
function useRestingWindow(state: TimelineState): Span {
  const now = (): Span =>
    state.range.value ?? { start: startOf(state.viewport.value), end: endOf(state.viewport.value) };
  const [resting, setResting] = useState<Span>(() => untracked(now));
  useEffect(() => {
    let timer = 0;
    let taken = 0;
    const stop = effect(() => {
      const span = now();
      const dragged = state.draft.value !== null;
      clearTimeout(timer);
      const wait = dragged ? Math.max(0, taken + FOLLOW_MS - performance.now()) : SETTLE_MS;
      timer = window.setTimeout(() => {
        taken = performance.now();
        setResting((last) => (last.start === span.start && last.end === span.end ? last : span));
      }, wait);
    });
    return () => (stop(), clearTimeout(timer));
  }, [state]);
  return resting;
}

const SEARCH_TIP =
  'A part of the name; what no name holds is looked for in args, scopes and sources. ' +
  'Also: dur>1ms  dur<20us  key=value  arg:text  track:stream  host:a  scope:mlp  source:model.py:88  ' +
  '"two words"; whole: is:name  op:dot.62  module:jit_f';

function SearchField({ focusOn }: { focusOn: { current: HTMLInputElement | null } }) {
  const [text, setText] = useTyped('find');
  return (
    <input
      ref={focusOn}
      type="search"
      aria-label="Search names and args"
      placeholder="search  /"
      data-tip={SEARCH_TIP}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        if (text !== (query.value.find ?? '')) go({ find: text || null }, 'replace');
        else act(event.shiftKey ? 'hit-previous' : 'hit-next');
      }}
    />
  );
}

export function Lower({ state, search }: { state: TimelineState; search: ReturnType<typeof useSearch> }) {
  const focus = state.focus.value;
  const find = found.value;
  const kept = state.kept.value;
  const hasRange = state.range.value !== null;
  const tab = state.tab.value;
  const setTab = (next: Tab): void => void (state.tab.value = next);
  const field = useRef<HTMLInputElement>(null);
  const span = useRestingWindow(state);
  const painted = state.painted.value; // tables come after the picture

  useEffect(() => void (state.listed.value > 0 && setTab('slices')), [state.listed.value]);
  useEffect(() => void (find && setTab('search')), [find]);
  useEffect(() => void (hasRange && setTab('range')), [hasRange, kept]);
  useEffect(() => registerActions({ search: () => (field.current?.focus(), field.current?.select()) }), []);

  const tabs: [Tab, string, boolean][] = [
    ['slice', 'This slice', focus !== null],
    ['range', hasRange ? 'Range' : 'In view', true],
    ['flame', 'Flame', true],
    ['slices', 'Slices', true],
    ['search', search.data ? `Search ${count(search.data.row_count)}` : 'Search', find !== undefined],
  ];
  const current = tabs.find(([id]) => id === tab)?.[2] ? tab : 'range';
  return (
    <div class="lower">
      <div class="lower-tabs">
        <div role="tablist" aria-label="Below the tracks" class="tab-search">
          {tabs.map(([id, words, usable]) => (
            <button
              key={id}
              role="tab"
              id={`lower-${id}`}
              aria-selected={current === id}
              aria-controls="lower-body"
              disabled={!usable}
              onClick={() => setTab(id)}
            >
              {words}
            </button>
          ))}
        </div>
        <SearchField focusOn={field} />
        <div class="actions">
          {!focus && !hasRange && <GestureOffer />}
          {focus && (
            <>
              <button onClick={() => act('zoom-focus')}>Zoom F</button>
              <button onClick={() => act('same-next')}>Same name N</button>
              <button onClick={() => act('chain')} aria-pressed={state.chained.value}>
                Waited for B
              </button>
              <button onClick={() => act('range-focus')}>Range M</button>
              <button onClick={() => void copyText(focus.name).then(() => say('The name is copied.'))}>
                Copy name
              </button>
            </>
          )}
          {hasRange && (
            <>
              <button onClick={() => act('zoom-range')}>Zoom to range Z</button>
              <button onClick={() => act('range-keep')}>Keep shift M</button>
            </>
          )}
          <button onClick={() => act('zoom-all')}>Whole run 0</button>
        </div>
      </div>
      <div
        class="lower-body"
        id="lower-body"
        role="tabpanel"
        aria-labelledby={`lower-${current}`}
        tabIndex={current === 'slice' ? 0 : -1}
      >
        {painted && <PieceLine state={state} />}
        {painted && current === 'slice' && focus && <SlicePane state={state} slice={focus} />}
        {painted && current === 'range' && <WindowPane state={state} span={span} range={hasRange} />}
        {painted && current === 'flame' && <FlamePane state={state} span={span} />}
        {painted && current === 'slices' && <SlicesPane state={state} span={span} />}
        {painted && current === 'search' && find && <SearchPane state={state} reply={search} find={find} />}
      </div>
    </div>
  );
}
