/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of windows on the ruler, above kept ranges: a click makes the window the range. */
import { useNotes } from '../../data/notes';
import { go } from '../../data/place';
import { shown } from '../../model/cut';
import { time, toBig } from '../../model/numbers';
import { positionOf } from '../../model/viewport';
import type { TimelineState } from './state';

const PIXELS_MIN = 14;

export function NoteFlags({ state }: { state: TimelineState }) {
  const { data } = useNotes(state.run.content_id === null ? null : state.run.id);
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  return (
    <>
      {(data?.rows ?? []).map((note) => {
        if (note.start_ps === null || note.end_ps === null) return null;
        const start = toBig(note.start_ps);
        const end = toBig(note.end_ps);
        const from = positionOf(viewport, start) * width;
        const to = positionOf(viewport, end) * width;
        if (to <= 0 || from >= width) return null;
        const left = Math.max(0, from);
        return (
          <button
            key={note.id ?? note.text}
            class="mark-flag note-flag"
            style={{ left: `${left}px`, width: `${Math.max(PIXELS_MIN, Math.min(width, to) - left)}px` }}
            aria-label={`Note ${note.text}`}
            data-tip={`${note.text}: ${time(start)} … ${time(end)}, ${time(end - start)}`}
            onPointerDown={(event) => event.stopPropagation()}
            onClick={() => go({ start_ps: String(start), end_ps: String(end) })}
          >
            <bdi class="cut">✎ {shown(note.text)}</bdi>
          </button>
        );
      })}
    </>
  );
}
