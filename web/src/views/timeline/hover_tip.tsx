/* SPDX-License-Identifier: Apache-2.0 */
/* The tooltip of a slice: at once what the tile knows, the exact figures a moment later; of a
 * counter its value, of a closed group its shares by kind. */
import { effect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { CELL_ASYNC, CELL_CUT, CELL_PARTIAL } from '../../data/tiles';
import { KINDS, type Slice } from '../../data/types';
import { sharesAt } from '../../draw/summary';
import { summaryOf } from '../../draw/scene';
import { shown } from '../../model/cut';
import { sampled, stretchAt } from '../../data/counter_store';
import { count, share, time, toBig } from '../../model/numbers';
import { positionOf, timeAt } from '../../model/viewport';
import type { Band } from '../../model/layout';
import { hideTip, showTip } from '../../ui/tooltip';
import { oncePerFrame } from './frame';
import { hitAt, sliceOf, type Hit } from './hit';
import type { TimelineState, Under } from './state';

const MARKS: readonly [number, string][] = [
  [CELL_ASYNC, 'asynchronous'],
  [CELL_PARTIAL, 'overlaps another slice'],
  [CELL_CUT, 'its end is not in the file'],
];

const EXACT_DELAY_MS = 80;

let shownFor: string | null = null;
let askedFor: string | null = null; // where its exact figures are on their way
let timer = 0;
let abort: AbortController | null = null;

function Content({ hit, slice }: { hit: Hit; slice: Slice | null }) {
  const self = slice && slice.self_ps !== null && slice.self_ps !== slice.dur_ps ? `, self ${time(slice.self_ps)}` : '';
  const figures = slice && `${time(slice.dur_ps)}${self}`;
  if (hit.folded)
    return (
      <>
        {`${hit.slices === 255 ? '255 slices and more' : `${count(hit.slices)} slices`}, busy ${share(hit.busy)}`}
        <br />
        {'longest '}
        <bdi>{shown(hit.name)}</bdi>
        {figures && `, ${figures}`}
        <br />
        <span class="faint">W zooms in</span>
      </>
    );
  return (
    <>
      <bdi>{shown(hit.name)}</bdi>
      {figures && (
        <>
          <br />
          <strong>{hit.instant ? 'instant' : figures}</strong>
        </>
      )}
      <br />
      <span class="faint">
        {[
          KINDS[hit.kind],
          hit.band.node.name,
          ...MARKS.filter(([flag]) => hit.flags & flag).map(([, words]) => words),
        ].join(' · ')}
      </span>
    </>
  );
}

/* What a counter is at a moment: as it was sampled last, and between what it went in that pixel. */
function CounterContent({ state, band, at }: { state: TimelineState; band: Band; at: bigint }) {
  const { name } = band.node;
  const series = state.counters.get(band.node.id);
  const index = series ? stretchAt(series, at) : -1;
  if (!series || index < 0) return <bdi>{shown(name)}</bdi>;
  const [low, high] = [series.lows[index]!, series.highs[index]!];
  return (
    <>
      <bdi>{shown(name)}</bdi>
      <br />
      <strong>{sampled(name, series.values[index]!)}</strong>
      {low < high && ` (${sampled(name, low)} to ${sampled(name, high)}, ${count(series.counts[index]!)} samples)`}
      <br />
      <span class="faint">
        {`sampled at ${time(series.times[index]!)}; ` +
          `${sampled(name, series.min)} to ${sampled(name, series.max)} in view`}
      </span>
    </>
  );
}

/* Of a closed group: what of its tracks was busy with what in that pixel. */
function GroupContent({ band, shares }: { band: Band; shares: readonly number[] }) {
  const parts = shares
    .map((part, kind) => ({ part, kind }))
    .filter(({ part }) => part > 0)
    .sort((a, b) => b.part - a.part);
  return (
    <>
      <bdi>{shown(band.node.name)}</bdi>
      <br />
      <strong>
        {parts.length === 0 ? 'nothing' : parts.map(({ part, kind }) => `${KINDS[kind]} ${share(part)}`).join(', ')}
      </strong>
      <br />
      <span class="faint">in this pixel, mean over its tracks; a click on its name opens it</span>
    </>
  );
}

/* Rows of slices tell by themselves. */
function aggregateAt(state: TimelineState, band: Band | null, x: number): ComponentChildren {
  if (band?.node.kind === 'counter') {
    const at = timeAt(state.viewport.value, x / state.size.value.width) + state.shiftOf(band.node.host);
    return <CounterContent state={state} band={band} at={at} />;
  }
  if (!band || band.summaries.length === 0) return null;
  const camera = state.cameraOf(band.node.host);
  const shares = sharesAt(
    band.summaries.map((track) => summaryOf(state.store, track, camera)),
    Math.floor(x * devicePixelRatio),
  );
  return shares && <GroupContent band={band} shares={shares} />;
}

/* What is below the pointer now, whatever moved: the pointer, the window, the rows, or tiles that came. */
function showHover(state: TimelineState, { x, y, clientX, clientY }: Under): void {
  const { band, hit } = hitAt(state, x, y);
  const key = hit && `${hit.band.node.id}:${hit.depth}:${hit.name}:${hit.folded ? hit.start : ''}`;
  const known = state.hoverSlice.peek();
  const isSame = known !== null && key === shownFor && (hit!.folded || isUnder(state, known.slice, x));
  const asked = hit && `${key}:${hit.start}`;
  const isAsked = !isSame && asked !== null && asked === askedFor;
  if (!isSame && !isAsked) {
    clearTimeout(timer);
    abort?.abort();
    shownFor = key;
    askedFor = asked;
    state.hoverSlice.value = null;
  }
  if (!hit) {
    const told = aggregateAt(state, band, x);
    if (told) showTip(told, clientX, clientY);
    else hideTip();
    return;
  }
  showTip(<Content hit={hit} slice={isSame || isAsked ? (known?.slice ?? null) : null} />, clientX, clientY);
  if (isSame || isAsked) return;
  abort = new AbortController();
  const { signal } = abort;
  timer = window.setTimeout(() => {
    sliceOf(state, hit, signal)
      .then((slice) => {
        const under = state.under.peek();
        if (!slice || signal.aborted || under === null) return;
        state.hoverSlice.value = { slice, band: hit.band };
        showHover(state, under);
      })
      .catch(() => undefined);
  }, EXACT_DELAY_MS);
}

const REACH_PIXELS = 4;

function isUnder(state: TimelineState, slice: Slice, x: number): boolean {
  const viewport = state.viewport.peek();
  const { width } = state.size.peek();
  const start = toBig(slice.start_ps) - state.shiftOf(hostOf(state, slice.track));
  const [left, right] = [start, start + toBig(slice.dur_ps)].map((time) => positionOf(viewport, time) * width);
  return x >= left! - REACH_PIXELS && x <= right! + REACH_PIXELS;
}

const hostOf = (state: TimelineState, track: string): string =>
  state.layout.peek().bands.find((band) => band.node.id === track)?.node.host ?? '';

/* The tooltip follows pointer and window, once a frame. */
export function followPointer(state: TimelineState): () => void {
  let wasOver = false;
  const frame = oncePerFrame(() => {
    const under = state.under.peek();
    if (under) return showHover(state, under);
    clearTimeout(timer);
    abort?.abort();
    shownFor = askedFor = null;
    state.hoverSlice.value = null;
    hideTip();
  });
  const stop = effect(() => {
    const under = state.under.value;
    void [state.viewport.value, state.layout.value, state.scrollTop.value, state.arrivals.value];
    if (under || wasOver) frame.ask();
    wasOver = under !== null;
  });
  return () => (stop(), frame.stop());
}
