/* The filter of a table, written into the address after a pause; an error keeps the last good rows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, query } from '../data/place';
import { isFault, parseFilter, type Filter, type FilterFault } from '../model/filter';
import { registerActions } from './keys';

const SETTLE_MS = 300;

export interface FilterState {
  text: string;
  filter: Filter;
  fault: FilterFault | null;
  set: (text: string) => void;
}

const ALL: Filter = { test: () => true, empty: true };

export function useFilter(columns: readonly string[]): FilterState {
  const [text, set] = useState(query.value.q ?? '');
  const good = useRef<Filter>(ALL);
  useEffect(() => set(query.value.q ?? ''), [query.value.q]);
  useEffect(() => {
    const timer = setTimeout(() => go({ q: text || null }, 'replace'), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const parsed = parseFilter(text, columns);
  const fault = isFault(parsed) ? parsed : null;
  if (!isFault(parsed)) good.current = parsed;
  return { text, filter: good.current, fault, set };
}

export function FilterField({ state, label, example }: { state: FilterState; label: string; example: string }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => registerActions({ search: () => input.current?.focus() }), []);
  return (
    <span class="filter">
      <input
        ref={input} type="search" aria-label={label} placeholder={`filter: ${example}`} value={state.text}
        aria-invalid={state.fault !== null} onInput={(event) => state.set(event.currentTarget.value)}
      />
      {state.fault && (
        <span class="fault" role="status">
          {state.fault.message}
        </span>
      )}
    </span>
  );
}
