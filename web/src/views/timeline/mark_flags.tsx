/* SPDX-License-Identifier: Apache-2.0 */
/* Kept ranges on the ruler: a bracket with its words; a click makes it the range again. */
import { useState } from 'preact/hooks';
import { go } from '../../data/place';
import { shown } from '../../model/cut';
import { markText, type Mark } from '../../model/marks';
import { time } from '../../model/numbers';
import { positionOf } from '../../model/viewport';
import { markMenu } from './menus';
import type { TimelineState } from './state';

const WORDS_PIXELS_MIN = 14;

function Flag({ state, mark, from, to }: { state: TimelineState; mark: Mark; from: number; to: number }) {
  const [renaming, setRenaming] = useState(false);
  const words = mark.text === '' ? time(mark.end - mark.start) : shown(mark.text);
  const rename = (text: string): void => {
    setRenaming(false);
    state.setMarks(
      state.marks.value.map((one) =>
        one.start === mark.start && one.end === mark.end ? { ...one, text: markText(text) } : one,
      ),
    );
  };
  if (renaming)
    return (
      <input
        type="text"
        class="mark-name"
        aria-label="Name of the mark"
        value={mark.text}
        style={{ left: `${from}px` }}
        ref={(element) => element?.focus()}
        onPointerDown={(event) => event.stopPropagation()}
        onBlur={(event) => rename(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') rename(event.currentTarget.value);
          else if (event.key === 'Escape') setRenaming(false);
          else return;
          event.stopPropagation();
        }}
      />
    );
  return (
    <button
      class="mark-flag"
      style={{ left: `${from}px`, width: `${Math.max(WORDS_PIXELS_MIN, to - from)}px` }}
      aria-label={`Mark ${words}`}
      data-tip={
        `${words}: ${time(mark.start)} … ${time(mark.end)}, ${time(mark.end - mark.start)}; ` +
        'right click renames or removes'
      }
      onPointerDown={(event) => event.stopPropagation()}
      onClick={() => go({ start_ps: String(mark.start), end_ps: String(mark.end) })}
      onContextMenu={(event) => {
        event.preventDefault();
        markMenu(state, mark, event.clientX, event.clientY, () => setRenaming(true));
      }}
    >
      <bdi class="cut">{words}</bdi>
    </button>
  );
}

export function MarkFlags({ state }: { state: TimelineState }) {
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  const placed = state.marks.value.map((mark) => ({
    mark,
    from: positionOf(viewport, mark.start) * width,
    to: positionOf(viewport, mark.end) * width,
  }));
  return (
    <>
      {placed
        .filter(({ from, to }) => to > 0 && from < width)
        .map(({ mark, from, to }) => (
          <Flag
            key={`${mark.start}-${mark.end}`}
            state={state}
            mark={mark}
            from={Math.max(0, from)}
            to={Math.min(width, to)}
          />
        ))}
    </>
  );
}
