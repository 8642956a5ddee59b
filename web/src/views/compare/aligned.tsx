/* SPDX-License-Identifier: Apache-2.0 */
/* Both runs on one time axis, A above B; 0 is where the chosen step begins in each of them. */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunDetails, StepList, StepRow, Track, TrackList } from '../../data/types';
import { formatSpan, parseSpan, type Span } from '../../model/address';
import {
  beginsOf,
  beginWords,
  pairsOf,
  pairWords,
  placeOf,
  tracksToAlign,
  type Begin,
  type Pair,
} from '../../model/align';
import { intoRun, sideOf, sideShort } from '../../model/compare';
import { shown } from '../../model/cut';
import { treeOf } from '../../model/layout';
import { toBig } from '../../model/numbers';
import { endOf, positionOf, startOf, viewportOf } from '../../model/viewport';
import { registerActions } from '../../ui/keys';
import { Failed, Waiting } from '../../ui/states';
import { Name } from '../../ui/text';
import { moveActions } from '../timeline/actions';
import { Legend } from '../timeline/legend';
import { Ruler } from '../timeline/ruler';
import { TimelineState, type Axis } from '../timeline/state';
import { Tracks } from '../timeline/tracks';

const STEPS_MAX = 10_000;

interface Loaded {
  text: string; // as in the address
  run: RunDetails;
  tracks: readonly Track[];
  steps: readonly StepRow[];
}

function useSide(text: string, id: string): Loaded | Error | null {
  const run = useJson<RunDetails>('api/run', { run: id });
  const tracks = useJson<TrackList>('api/tracks', { run: id });
  const steps = useJson<StepList>('api/steps', { run: id, limit: STEPS_MAX });
  const error = run.error ?? tracks.error ?? steps.error;
  if (error) return error;
  return run.data && tracks.data && steps.data
    ? { text, run: run.data, tracks: tracks.data.tracks, steps: steps.data.rows }
    : null;
}

type Letter = 'a' | 'b';

/* The pair in the address, and both timelines that stand by it. */
class Alignment {
  readonly pairs: readonly Pair[];
  readonly place: ReadonlySignal<number>;
  readonly a: TimelineState;
  readonly b: TimelineState;

  constructor(private readonly sides: Record<Letter, Loaded>) {
    const begins = (letter: Letter): Begin[] => beginsOf(sides[letter].steps, sideOf(sides[letter].text));
    this.pairs = pairsOf(begins('a'), begins('b'));
    this.place = computed(() => placeOf(this.pairs, query.value.align));
    const asked = parseSpan(query.value.window) ?? this.firstWindow();
    const shared = {
      viewport: signal(viewportOf(asked.start, asked.end)),
      hover: signal(null),
      reach: computed(() => this.reach()),
    };
    this.a = this.stateOf('a', shared);
    this.b = this.stateOf('b', shared);
  }

  get pair(): Pair {
    return this.pairs[this.place.value]!;
  }

  /* How much later B is drawn than its step's begin has it. */
  get offset(): bigint {
    return /^-?\d{1,18}$/.test(query.value.offset ?? '') ? BigInt(query.value.offset!) : 0n;
  }

  /* Without a step the begin of the run, or of the part of it that is compared. */
  private zeroOf(letter: Letter): bigint {
    const begin = this.pair[letter]?.start ?? BigInt(sideOf(this.sides[letter].text).start ?? 0);
    return letter === 'b' ? begin - this.offset : begin;
  }

  private reach(): Span {
    const ends = (['a', 'b'] as const).map((letter) => ({
      start: -this.zeroOf(letter),
      end: toBig(this.sides[letter].run.duration_ps ?? 1) - this.zeroOf(letter),
    }));
    const [one, two] = ends as [Span, Span];
    return { start: one.start < two.start ? one.start : two.start, end: one.end > two.end ? one.end : two.end };
  }

  /* The longer of both steps and a little around it. */
  private firstWindow(): Span {
    const { a, b } = this.pair;
    const spans = [a, b].flatMap((begin) => (begin ? [begin.end - begin.start] : []));
    const span = spans.reduce((x, y) => (x > y ? x : y), 0n);
    if (span === 0n) return this.reach();
    return { start: -span / 25n, end: span + span / 25n };
  }

  private stateOf(letter: Letter, shared: Pick<Axis, 'viewport' | 'hover' | 'reach'>): TimelineState {
    const { text, run, tracks, steps } = this.sides[letter];
    const zero = computed(() => this.zeroOf(letter));
    const onSlice: Axis['onSlice'] = (slice) => {
      const window = formatSpan({
        start: startOf(shared.viewport.value) + zero.value,
        end: endOf(shared.viewport.value) + zero.value,
      });
      go({ ...intoRun(text, { view: 'timeline', slice: slice.id }), window }, 'push');
    };
    const moveBy = (ps: bigint): void => {
      const next = this.offset + (letter === 'b' ? ps : -ps);
      go({ offset: next === 0n ? null : String(next) }, 'replace');
    };
    const shown = tracksToAlign(treeOf(tracks));
    const state = new TimelineState(run, tracks, { ...shared, zero, onSlice, moveBy, tracks: shown });
    state.steps.value = steps;
    return state;
  }

  /* The window stays: what is seen of one step is seen of the next. */
  go(by: 1 | -1): void {
    const pair = this.pairs[this.place.value + by];
    const now = this.a.viewport.value;
    if (pair) go({ align: pair.key, window: formatSpan({ start: startOf(now), end: endOf(now) }) }, 'replace');
  }

  close(): void {
    this.a.close();
    this.b.close();
  }
}

const MS = 1e9; // in ps

/* In milliseconds, as it is thought of; kept to the picosecond. */
function OffsetField({ offset }: { offset: bigint }) {
  const set = (ps: number): void => {
    if (Number.isFinite(ps)) go({ offset: ps === 0 ? null : String(Math.round(ps)) }, 'replace');
  };
  return (
    <label data-tip="How much later B is drawn, in milliseconds; negative: earlier. Alt + drag in B moves it as well">
      B later by{' '}
      <input
        type="number"
        step="any"
        class="offset"
        value={Number(offset) / MS}
        onChange={(event) => set(Number(event.currentTarget.value) * MS)}
      />{' '}
      ms
      {offset !== 0n && (
        <button class="framed" onClick={() => set(0)}>
          0
        </button>
      )}
    </label>
  );
}

function Bar({ both }: { both: Alignment }) {
  const { pairs, place, pair } = both;
  const step = (by: 1 | -1, words: string, sign: string) => (
    <button
      aria-label={words}
      data-tip={`${words} (${by > 0 ? 'J' : 'K'})`}
      aria-disabled={pairs[place.value + by] === undefined}
      onClick={() => both.go(by)}
    >
      {sign}
    </button>
  );
  return (
    <div class="toolbar aligned-bar">
      {step(-1, 'Step before', '‹')}
      {step(1, 'Next step', '›')}
      <span aria-live="polite">{`0 is the start of ${pairWords(pair)}`}</span>
      <span class="faint">{`${place.value + 1} of ${pairs.length}`}</span>
      <OffsetField offset={both.offset} />
      <button class="framed" onClick={() => go({ align: null, window: null, offset: null }, 'push')}>
        Table
      </button>
    </div>
  );
}

function Side({ both, letter, text }: { both: Alignment; letter: Letter; text: string }) {
  const state = both[letter];
  const scroller = useRef<HTMLDivElement>(null);
  return (
    <section class="aligned-side" aria-label={`${letter.toUpperCase()}, ${sideShort(text)}`}>
      <h2>
        <span class="faint">{letter.toUpperCase()}</span> <Name text={sideShort(text)} />{' '}
        <span class="quiet">{beginWords(both.pair[letter])}</span>
      </h2>
      <div
        ref={scroller}
        class="tracks"
        onScroll={(event) => void (state.scrollTop.value = event.currentTarget.scrollTop)}
      >
        <div class="tracks-inner" style={{ height: `${state.layout.value.height}px` }}>
          <div class="track-names">
            {state.layout.value.bands.map((band) => (
              <div
                key={band.node.id}
                class={`track-name level-${Math.min(4, band.level)}${band.node.children.length > 0 ? ' group' : ''}`}
                style={{ top: `${band.y}px`, height: `${Math.min(band.height, 24)}px` }}
                data-tip={shown(band.label)}
              >
                <bdi class="cut">{shown(band.label)}</bdi>
              </div>
            ))}
          </div>
          <div>
            <div class="tracks-stick">
              <Tracks
                state={state}
                minimapWants={() => []}
                scrollBy={(pixels) => void (scroller.current!.scrollTop += pixels)}
              />
            </div>
          </div>
        </div>
      </div>
    </section>
  );
}

/* What moves with the window is a component of its own. */
function Zero({ state }: { state: TimelineState }) {
  const at = positionOf(state.viewport.value, 0n);
  return at < 0 || at > 1 ? null : (
    <div class="aligned-zero" style={{ left: `calc(var(--names) + ${Math.round(at * state.size.value.width)}px)` }} />
  );
}

function RulerLine({ state }: { state: TimelineState }) {
  return (
    <div class="timeline-ruler">
      <span class="ruler-left">
        <span class="faint">from 0</span>
      </span>
      <Ruler state={state} />
    </div>
  );
}

function Both({ a, b }: Record<Letter, Loaded>) {
  const both = useMemo(() => new Alignment({ a, b }), [a.run.content_id, b.run.content_id]);
  useEffect(() => () => both.close(), [both]);
  useEffect(() => {
    for (const state of [both.a, both.b]) state.findFamilies().catch(() => undefined); // all stays compute without
  }, [both]);
  useEffect(
    () =>
      registerActions({ ...moveActions(both.a), 'step-next': () => both.go(1), 'step-previous': () => both.go(-1) }),
    [both],
  );
  return (
    <>
      <Bar both={both} />
      <div class="aligned">
        <RulerLine state={both.a} />
        <Legend state={both.a} beside={both.b} />
        <Side both={both} letter="a" text={a.text} />
        <Side both={both} letter="b" text={b.text} />
        <Zero state={both.a} />
      </div>
    </>
  );
}

/* `ids`: of the runs that the texts name. */
export function Aligned({ a, b, ids }: Record<Letter, string> & { ids: readonly [string, string] }) {
  const sides = [useSide(a, ids[0]), useSide(b, ids[1])] as const;
  const [one, two] = sides;
  const error = sides.find((side) => side instanceof Error);
  if (error instanceof Error) return <Failed error={error} />;
  if (one === null || two === null || one instanceof Error || two instanceof Error)
    return <Waiting what="Reading both timelines." progress={null} />;
  return <Both a={one} b={two} />;
}
