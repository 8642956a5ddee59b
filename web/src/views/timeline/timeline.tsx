/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: minimap, ruler, tracks, and what is known below. */
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { localTrack, type LocalTrack } from '../../data/local_track';
import { word } from '../../data/place';
import { loadJson, useJson } from '../../data/resource';
import { askSql } from '../../data/sql';
import type { ChainReply, RunDetails, SearchReply, StepList, StepRow, TrackList } from '../../data/types';
import type { Span } from '../../model/address';
import { time, timeExact, toBig } from '../../model/numbers';
import { inWindow } from '../../model/ticks';
import { endOf, startOf } from '../../model/viewport';
import { registerActions } from '../../ui/keys';
import { say } from '../../ui/said';
import { Split } from '../../ui/split';
import { Failed, Waiting } from '../../ui/states';
import { timelineActions } from './actions';
import { chainFlows } from './chain';
import { docked, DOCK_PIXELS } from './dock';
import { drawnFlows, type DrawnFlow } from './flows';
import { followFocus } from './focus';
import { useSearch } from './search_pane';
import { Legend } from './legend';
import { Lower } from './lower';
import { Minimap, minimapWants } from './minimap';
import { TrackNames } from './names';
import { followPath, PathRow, usePathArrow } from './path_row';
import { Ruler, RulerBase } from './ruler';
import { StepsRow } from './steps_row';
import { litBySearch, TimelineState } from './state';
import { Tracks } from './tracks';
import { onResize } from '../../ui/size';

const STEPS_MAX = 10_000;
const DENSITY_MS = 120;
const LINKS_MAX = 200; // of a chain
const LOWER_PIXELS = 240;
const FOLDED_PIXELS = 32; // its tabs
const TRACKS_PIXELS_MIN = 96;
const BELOW_TRACKS_PIXELS = 24; // empty: a click there lets the focus go

const found = word('find');
const asked = word('debug');

export function TimelineView({ run }: { run: RunDetails }) {
  const tracks = useJson<TrackList>('api/tracks', { run: run.id });
  const steps = useJson<StepList>('api/steps', { run: run.id, limit: STEPS_MAX });
  const local = useLocal(run);
  /* Asked again with the run, either may come first: of what the run is now, and not before. */
  const held = useRef<{ content: string | null; data: TrackList } | null>(null);
  if (tracks.data && !tracks.waiting) held.current = { content: run.content_id, data: tracks.data };
  if (tracks.error) return <Failed error={tracks.error} />;
  if (!tracks.data) return tracks.waiting ? <Waiting what="Reading the tracks." progress={tracks.progress} /> : null;
  if (held.current?.content !== run.content_id) return null;
  if (tracks.data.tracks.every((track) => track.slice_count === 0 && track.kind !== 'counter'))
    return <p class="state">Nothing was recorded in this run: its files hold no slices.</p>;
  return (
    <Timeline
      key={`${run.id} ${run.content_id} ${local ? local.name : ''}`}
      run={run}
      tracks={tracks.data}
      steps={steps.data?.rows ?? null}
      local={local}
    />
  );
}

/* The rows of the query in the address as a track above the others. */
function useLocal(run: RunDetails): LocalTrack | null {
  const sql = asked.value;
  const [local, setLocal] = useState<{ sql: string; track: LocalTrack } | null>(null);
  useEffect(() => {
    if (sql === undefined) return;
    const abort = new AbortController();
    askSql(run.id, sql, abort.signal).then(
      (answer) => {
        const track = localTrack(answer, sql);
        if (abort.signal.aborted) return;
        if (track) setLocal({ sql, track });
        else say('The query has no row with a start_ps: no track is made of it.');
      },
      (error: Error) => abort.signal.aborted || say(error.message),
    );
    return () => abort.abort();
  }, [run.id, sql]);
  return local !== null && local.sql === sql ? local.track : null;
}

/* Counts of hits: over the run with the search itself, by track whenever the window came to rest. */
function useDensity(state: TimelineState, find: string | undefined, found: SearchReply | null): void {
  useEffect(() => {
    if (!find || !found?.density) return void (state.density.value = null);
    const run = found.density.counts;
    let abort = new AbortController();
    let timer = 0;
    const load = (span: Span): void => {
      abort.abort();
      abort = new AbortController();
      const params = { run: state.run.id, q: find, limit: 1, density: 'track', start_ps: span.start, end_ps: span.end };
      loadJson<SearchReply>('api/search', params, abort.signal)
        .then((reply) => {
          const tracks = new Map((reply.tracks ?? []).map((one) => [one.track, one.counts ?? []] as const));
          const width = toBig(reply.density!.bucket_ps) * BigInt(reply.density!.counts.length);
          state.density.value = { run, span: { start: span.start, end: span.start + width }, tracks };
        })
        .catch(() => undefined);
    };
    const stop = effect(() => {
      const viewport = state.viewport.value;
      const span = { start: startOf(viewport), end: endOf(viewport) };
      clearTimeout(timer);
      timer = window.setTimeout(() => load(span), DENSITY_MS);
    });
    state.density.value = { run, span: { start: 0n, end: 1n }, tracks: new Map() };
    return () => (stop(), clearTimeout(timer), abort.abort());
  }, [state, find, found]);
}

/* Arrows of the focus, each with the rows of both its ends. */
function useFlows(state: TimelineState): readonly DrawnFlow[] {
  const focus = state.focus.value;
  const chained = state.chained.value;
  const [drawn, setDrawn] = useState<readonly DrawnFlow[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    setDrawn([]);
    if (focus && !chained)
      void drawnFlows(state, focus, abort.signal).then((flows) => !abort.signal.aborted && setDrawn(flows));
    return () => abort.abort();
  }, [state, focus, chained]);
  useEffect(() => {
    const abort = new AbortController();
    state.chain.value = null;
    if (focus && chained)
      loadJson<ChainReply>('api/chain', { run: state.run.id, slice: focus.id, limit: LINKS_MAX }, abort.signal)
        .then((chain) => {
          state.chain.value = chain;
          setDrawn(chainFlows(focus, chain.rows));
        })
        .catch((error: Error) => abort.signal.aborted || say(error.message));
    return () => abort.abort();
  }, [state, focus, chained]);
  return drawn;
}

/* Parts that follow the window are components of their own: what moves sixty times a second must
 * not draw the tables again. */
function WindowWords({ state }: { state: TimelineState }) {
  const viewport = state.viewport.value;
  const words = inWindow(viewport, state.size.value.width || innerWidth);
  const [from, to] = [words(startOf(viewport)), words(endOf(viewport))];
  return (
    <div class="words" data-tip={`${timeExact(startOf(viewport))} … ${timeExact(endOf(viewport))}`}>
      <span class="cut">{`${from} … ${to}`}</span>
      <span class="faint">{time(BigInt(Math.round(viewport.span)))} in view</span>
    </div>
  );
}

interface Props {
  run: RunDetails;
  tracks: TrackList;
  steps: readonly StepRow[] | null;
  local: LocalTrack | null;
}

const NAMES = 220; // pixels
const NAMES_SHARE_MAX = 0.4; // of a narrow page

function Timeline({ run, tracks, steps, local }: Props) {
  const state = useMemo(() => new TimelineState(run, tracks.tracks, null, local), [run.id, run.content_id]);
  const find = found.value;
  const search = useSearch(state, find);
  const scroller = useRef<HTMLDivElement>(null);
  const [names, setNames] = useState(() => Math.min(NAMES, Math.round(innerWidth * NAMES_SHARE_MAX)));
  const [lower, setLower] = useState<number | null>(null); // what few tracks leave, until it is dragged
  const [folded, setFolded] = useState(false);
  const below = useRef<HTMLDivElement>(null);
  const [lowerNow, setLowerNow] = useState(LOWER_PIXELS);
  const [dock, setDock] = useState(DOCK_PIXELS);

  useEffect(() => () => state.close(), [state]);
  useLayoutEffect(() => {
    return onResize(below.current!, () => setLowerNow(below.current!.offsetHeight));
  }, []);
  useLayoutEffect(() => void (steps && state.showSteps(steps)), [state, steps]);
  useLayoutEffect(() => followFocus(state), [state]);
  const painted = state.painted.value;
  useEffect(() => void (painted && state.findFamilies().catch(() => undefined)), [state, painted]);
  useEffect(() => followPath(state), [state]);
  useEffect(() => registerActions({ drawer: () => setFolded((now) => !now) }), []);
  useEffect(() => registerActions(timelineActions(state, { rows: () => state.hits.value })), [state]);
  useEffect(() => void (state.lit.value = litBySearch(find)), [find]);
  useEffect(() => void (state.hits.value = find ? (search.data?.rows ?? []) : []), [find, search.data]);
  useDensity(state, find, search.data);
  const own = useFlows(state);
  const arrow = usePathArrow(state);
  useLayoutEffect(() => void (state.flows.value = [...own, ...arrow]), [state, own, arrow]);

  useLayoutEffect(
    () =>
      effect(() => {
        const wanted = state.scrollTop.value;
        const element = scroller.current!;
        if (Math.abs(element.scrollTop - wanted) <= 0.5) return;
        element.scrollTop = wanted;
        state.scrollTop.value = element.scrollTop;
      }),
    [state],
  );

  return (
    <div
      class={docked.value ? 'timeline docked' : 'timeline'}
      style={{ '--names': `${names}px`, '--dock': `${folded ? 0 : dock}px` }}
    >
      <div class="timeline-top">
        <WindowWords state={state} />
        <Minimap state={state} />
      </div>
      <div class="timeline-ruler">
        <RulerBase state={state} />
        <Ruler state={state} />
      </div>
      <div class="timeline-heads">
        <StepsRow state={state} />
        <PathRow state={state} />
        <Legend state={state} />
      </div>
      <div
        ref={scroller}
        class="tracks"
        style={{
          flex:
            lower === null && !folded
              ? `0 1 ${Math.max(TRACKS_PIXELS_MIN, state.layout.value.height + BELOW_TRACKS_PIXELS)}px`
              : '1 1 0',
        }}
        onScroll={(event) => void (state.scrollTop.value = event.currentTarget.scrollTop)}
      >
        <div class="tracks-inner" style={{ height: `${state.layout.value.height}px` }}>
          <TrackNames state={state} width={names} />
          <div>
            <div class="tracks-stick">
              <Tracks
                state={state}
                minimapWants={() => minimapWants(state)}
                scrollBy={(pixels) => void (scroller.current!.scrollTop += pixels)}
              />
            </div>
          </div>
          <Split axis="x" label="Width of the names" value={names} min={120} max={480} onChange={setNames} />
        </div>
      </div>
      {docked.value ? (
        <Split axis="x" label="Width of the details" value={dock} min={320} max={960} invert onChange={setDock} />
      ) : (
        <Split
          axis="y"
          label="Height of the details"
          value={lower ?? lowerNow}
          min={32}
          max={Math.max(120, innerHeight - 320)}
          invert
          onChange={setLower}
        />
      )}
      <div
        ref={below}
        class="timeline-lower"
        style={
          docked.value
            ? undefined
            : { flex: folded ? `0 0 ${FOLDED_PIXELS}px` : lower === null ? `1 0 ${LOWER_PIXELS}px` : `0 0 ${lower}px` }
        }
      >
        <Lower state={state} search={search} />
      </div>
    </div>
  );
}
