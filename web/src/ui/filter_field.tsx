/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of a table; an error keeps the last good rows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isFault, parseFilter, type Filter, type FilterFault } from '../model/filter';
import { registerActions } from './keys';
import { useTyped } from './typed';

export interface FilterState {
  text: string;
  filter: Filter;
  fault: FilterFault | null;
  set: (text: string) => void;
}

const ALL: Filter = { test: () => true, empty: true };

/* `key` of the address. */
export function useFilter(columns: readonly string[], key = 'q'): FilterState {
  const [text, set] = useTyped(key);
  const good = useRef<Filter>(ALL);
  const parsed = parseFilter(text, columns);
  const fault = isFault(parsed) ? parsed : null;
  if (!isFault(parsed)) good.current = parsed;
  return { text, filter: good.current, fault, set };
}

/* The same text behind the field, invisible but for the line under what is wrong. */
function Marks({ state, scrolled }: { state: FilterState; scrolled: number }) {
  const { text, fault } = state;
  if (!fault) return null;
  return (
    <span class="marks" aria-hidden="true">
      <span class="still" style={{ marginLeft: `${-scrolled}px` }} />
      {text.slice(0, fault.from)}
      <span>{text.slice(fault.from, fault.to)}</span>
    </span>
  );
}

/* `aside`: `/` goes to another field of the page. */
export function FilterField({
  state,
  label,
  example,
  aside = false,
}: {
  state: FilterState;
  label: string;
  example: string;
  aside?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [scrolled, setScrolled] = useState(0);
  useEffect(() => (aside ? undefined : registerActions({ search: () => input.current?.focus() })), [aside]);
  return (
    <span class="filter">
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={`filter: ${example}`}
        value={state.text}
        aria-invalid={state.fault !== null}
        aria-describedby={state.fault ? 'filter-fault' : undefined}
        onInput={(event) => state.set(event.currentTarget.value)}
        onScroll={(event) => setScrolled(event.currentTarget.scrollLeft)}
      />
      <Marks state={state} scrolled={scrolled} />
      {state.fault && (
        <span class="fault" id="filter-fault" role="status">
          {state.fault.message}
        </span>
      )}
    </span>
  );
}
