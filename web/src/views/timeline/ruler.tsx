/* The ruler: a base once at the left, then differences; the range as a bar; the pointer's time. */
import { rulerOf } from '../../model/ticks';
import { time, timeExact } from '../../model/numbers';
import { positionOf } from '../../model/viewport';
import { dragRuler, wheel } from './gestures';
import { MarkFlags } from './mark_flags';
import type { TimelineState } from './state';

const TICK_PIXELS = 110;

export function RulerBase({ state }: { state: TimelineState }) {
  const { width } = state.size.value;
  const ruler = rulerOf(state.viewport.value, width / TICK_PIXELS);
  return (
    <span class="ruler-base" data-tip={timeExact(ruler.base)}>
      {ruler.baseText}
    </span>
  );
}

export function Ruler({ state }: { state: TimelineState }) {
  const viewport = state.viewport.value;
  const { width } = state.size.value;
  const ruler = rulerOf(viewport, width / TICK_PIXELS);
  const range = state.range.value;
  const hover = state.hover.value;
  const from = range ? positionOf(viewport, range.start) * width : 0;
  const to = range ? positionOf(viewport, range.end) * width : 0;
  return (
    <div
      class="ruler" onPointerDown={(event) => dragRuler(state, event)}
      onWheel={(event) => wheel(state, event, event.currentTarget.getBoundingClientRect(), true)}
      data-tip="Drag: range; with shift it snaps to slices"
    >
      {ruler.ticks.map((tick) => (
        <span key={tick.text} class="tick" style={{ left: `${Math.round(tick.position * width)}px` }}>
          {tick.text}
        </span>
      ))}
      {range && to > 0 && from < width && (
        <span class="ruler-range" style={{ left: `${Math.max(0, from)}px`, width: `${Math.max(1, Math.min(width, to) - Math.max(0, from))}px` }}>
          {to - from > 64 ? time(range.end - range.start) : ''}
        </span>
      )}
      <MarkFlags state={state} />
      {hover && (
        <span class={`ruler-cursor${hover.x > width - 90 ? ' left' : ''}`} style={{ left: `${Math.round(hover.x)}px` }}>
          {time(hover.time)}
        </span>
      )}
    </div>
  );
}
