/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of the search as a table, every one of them. */
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import { restrictedBy } from '../../data/restriction';
import type { SearchReply } from '../../data/types';
import { Failed } from '../../ui/states';
import { SliceRows } from './slices_pane';
import type { TimelineState } from './state';

const HITS_MAX = 1000; // outlined on the tracks, walked by Enter

/* What the page is narrowed to narrows the search. */
const questionOf = (state: TimelineState, find: string) => ({
  run: state.run.id,
  q: find,
  start_ps: state.start,
  end_ps: state.end + 1n,
  ...restrictedBy('host', 'device', 'track', 'step', 'start_ps', 'end_ps'),
});

/* The first page of hits, with their counts over the run. */
export function useSearch(state: TimelineState, find: string | undefined) {
  return useJson<SearchReply>(find ? 'api/search' : null, { ...questionOf(state, find ?? ''), limit: HITS_MAX });
}

export function SearchPane({
  state,
  reply,
  find,
}: {
  state: TimelineState;
  reply: ReturnType<typeof useSearch>;
  find: string;
}) {
  if (reply.error) return <Failed error={reply.error} />;
  if (!reply.data) return null;
  if (reply.data.row_count === 0)
    return (
      <p class="state">
        No slice matches <code class="mono">{find}</code>.
        <button class="framed" onClick={() => go({ find: null }, 'replace')}>
          Remove it
        </button>
      </p>
    );
  return (
    <SliceRows
      state={state}
      path="api/search"
      asked={questionOf(state, find)}
      span={state}
      label="Hits of the search"
      usual="start_ps"
    />
  );
}
