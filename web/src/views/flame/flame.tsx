/* SPDX-License-Identifier: Apache-2.0 */
/* Where time went as a tree: zoom by click, search, the path above. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Params } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { opRestriction, restriction } from '../../data/restriction';
import { absence, type FlameNode, type FlameReply, type RunDetails } from '../../data/types';
import { WORDS } from '../../model/address';
import { amountOf, asWidths } from '../../model/amount';
import { findPath, layoutFlame, pathOf, type FlameLayout } from '../../model/flame_layout';
import { count, share, toNumber } from '../../model/numbers';
import { lineSentence } from '../../model/flame_sentence';
import { flameSentence, type Sentence } from '../../model/sentence';
import { focusSoon } from '../../ui/focus';
import { registerActions } from '../../ui/keys';
import { Link } from '../../ui/link';
import { Failed, NothingHere, Waiting } from '../../ui/states';
import { Name, SentenceLine } from '../../ui/text';
import { useTyped } from '../../ui/typed';
import { AgainstChoice, Difference, DifferenceWords } from './against';
import { Choices, Exports } from './controls';
import { Graph } from './graph';
import { FlameMap } from './minimap';
import { Names } from './names';
import { Relatives } from './relatives';
import { Sandwich } from './sandwich';

const NODES_MAX = 20_000;
const OF_OPS = ['scope', 'stack', 'source', 'module', 'host', 'track'];
/* PyTorch's profiler records the calls around each launch, and no scopes of its own. */
const OF_TORCH = ['host', 'scope', 'module', 'stack', 'track'];

/* What the widths are of, in words. */
function whatOf(data: FlameReply): string | undefined {
  if (data.type) return `all ${data.type}${data.unit === 'ps' && !/time/i.test(data.type) ? ' time' : ''}`;
  if (data.unit === 'count') return data.of === 'device' ? 'all executions' : 'all slices';
  if (data.unit === 'bytes') return 'all bytes read and written';
  if (data.unit === 'flops') return 'all FLOPs';
  return undefined;
}

function Crumbs({ layout, zoom }: { layout: FlameLayout; zoom: number }) {
  const path: number[] = [];
  for (let at = zoom; at >= 0; at = layout.parent[at]!) path.unshift(at);
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      {path.map((index, at) => (
        <>
          {at > 0 && <span class="faint"> / </span>}
          <Link to={{ zoom: index === 0 ? null : pathOf(layout, index), key: null }} current={index === zoom}>
            {index === 0 ? 'all' : <Name text={layout.nodes[index]!.name} />}
          </Link>
        </>
      ))}
    </nav>
  );
}

function sentenceOf(root: FlameNode, data: FlameReply): Sentence {
  const lines =
    data.by === 'stack' || data.by === 'source' ? lineSentence(root, whatOf(data) ?? `${data.of} time`) : [];
  return lines.length > 0 ? lines : flameSentence(root, data.of, whatOf(data));
}

/* Graph, path above, relatives of the focus below. */
function Explorer({
  layout,
  data,
  params,
  lit,
  flipped,
  label,
}: {
  layout: FlameLayout;
  data: FlameReply;
  params: Params;
  lit: ((name: string) => boolean) | null;
  flipped: boolean;
  label: string;
}) {
  const zoom = findPath(layout, query.value.zoom ?? '');
  const focused = findPath(layout, query.value.key ?? '');
  const focus = focused > 0 ? focused : zoom > 0 ? zoom : null;
  const zoomTo = (index: number) => go({ zoom: index === 0 ? null : pathOf(layout, index), key: null });
  const isCut = (data.node_count_all ?? 0) > layout.nodes.length;
  const focusOn = (index: number) => go({ key: pathOf(layout, index) || null }, 'replace');
  useEffect(() => {
    const inwards = () => zoomTo(focus ?? 0);
    return registerActions({
      'zoom-in': inwards,
      'zoom-focus': inwards,
      'zoom-out': () => zoomTo(Math.max(0, layout.parent[zoom]!)),
      'zoom-all': () => zoomTo(0),
    });
  }, [layout, focus, zoom]);
  return (
    <div class="explorer">
      <Crumbs layout={layout} zoom={zoom} />
      {zoom > 0 && <FlameMap layout={layout} zoom={zoom} flipped={flipped} onZoom={zoomTo} />}
      <Graph
        layout={layout}
        zoom={zoom}
        focus={focus}
        lit={lit}
        flipped={flipped}
        label={label}
        onFocus={focusOn}
        onZoom={zoomTo}
      />
      {focus !== null ? (
        <Relatives
          layout={layout}
          focus={focus}
          by={data.by ?? ''}
          counted={data.counted}
          params={isCut ? params : null}
          onOpen={focusOn}
        />
      ) : (
        <Names layout={layout} lit={lit} isCut={isCut} onOpen={focusOn} />
      )}
    </div>
  );
}

/* Where the word stands: outermost places once, and their share. */
function hitsOf(layout: FlameLayout, lit: (name: string) => boolean): { number: number; covered: number } {
  const hits = { number: 0, covered: 0 };
  for (let index = 0; index < layout.nodes.length;) {
    if (!lit(layout.nodes[index]!.name)) index++;
    else {
      hits.number++;
      hits.covered += layout.width[index]!;
      index = layout.next[index]!;
    }
  }
  return hits;
}

const chosen = (key: string, otherwise: string): string =>
  WORDS[key]!.includes(query.value[key] ?? '') ? query.value[key]! : otherwise;

export function FlameView({ run }: { run: RunDetails }) {
  const isTorch = run.framework === 'pytorch';
  const ofOps = isTorch ? OF_TORCH : OF_OPS;
  const known = absence(run, 'timeline') === null ? ofOps : ['stack']; // snapshots have nothing else
  const by = known.includes(query.value.by ?? '') ? query.value.by! : known[0]!;
  const [weight, order, flipped] = [
    chosen('weight', 'self'),
    chosen('order', 'heavy'),
    chosen('roots', 'above') === 'below',
  ];
  const folded = by === 'scope' && query.value.fold === 'siblings';
  const params: Params = {
    run: run.id,
    by,
    ...(weight !== 'self' ? { weight } : {}),
    ...(order !== 'heavy' ? { order } : {}),
    ...(by === 'stack' && query.value.snapshot ? { snapshot: query.value.snapshot } : {}),
    ...(folded ? { fold: 'siblings' } : {}),
    limit: NODES_MAX,
    ...(by === 'stack' ? restriction.value : opRestriction.value),
  };
  const flame = useJson<FlameReply>('api/flame', params);
  const data = flame.data;
  const { against, sandwich } = query.value;
  const [text, setText] = useTyped('search');
  const field = useRef<HTMLInputElement>(null);
  useEffect(
    () =>
      registerActions({
        search: () => field.current?.focus(),
        'flame-time': () => go({ order: 'time' }, 'replace'),
        'flame-heavy': () => go({ order: null }, 'replace'),
        'flame-names': () => {
          if (query.value.against) return false;
          go({ zoom: null, key: null, sandwich: null });
          return focusSoon('.relatives[aria-label=Names] .table-row[tabindex="0"]'); // they come after the graph
        },
      }),
    [],
  );
  const layout = useMemo(
    () =>
      data?.root
        ? layoutFlame(
            asWidths(data.root),
            amountOf(data.unit ?? 'ps', data.of === 'samples' ? 'samples' : 'executions'),
          )
        : null,
    [data],
  );
  const word = text.trim().toLowerCase();
  const lit = useMemo(() => (word === '' ? null : (name: string) => name.toLowerCase().includes(word)), [word]);
  const hits = useMemo(() => (layout && lit ? hitsOf(layout, lit) : null), [layout, lit]);
  const isEmpty = layout !== null && toNumber(layout.nodes[0]!.total_ps) === 0;
  const notes = (data?.notes ?? []).filter((note) =>
    ['by-fallback', 'unknown-weight', 'costs-partly', 'stacks-cut'].includes(note.kind),
  );
  return (
    <>
      {against && <DifferenceWords run={run.name} against={against} />}
      {data && layout && !isEmpty && !against && <SentenceLine sentence={sentenceOf(layout.nodes[0]!, data)} />}
      {notes.map((note) => (
        <p
          key={note.kind}
          class={data?.root ? 'basis' : 'state'}
        >{`${note.message.charAt(0).toUpperCase()}${note.message.slice(1)}.`}</p>
      ))}
      <div class="toolbar">
        {!against && (
          <>
            <Choices
              by={by}
              bys={known}
              isTorch={isTorch}
              weight={weight}
              order={order}
              flipped={flipped}
              folded={folded}
            />
            <input
              ref={field}
              type="search"
              aria-label="Search the flame graph"
              placeholder="search  /"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </>
        )}
        {hits && (
          <span aria-live="polite">
            {`${count(hits.number)} found, ${share(Math.min(1, hits.covered))} of ${layout!.amount.noun}`}
          </span>
        )}
        {known.length > 1 && <AgainstChoice run={run.name} />}
        <Exports
          params={params}
          name={`${run.name}-${by}`}
          picture={
            layout && !isEmpty && !against
              ? { layout, zoom: findPath(layout, query.value.zoom ?? ''), flipped, lit }
              : null
          }
        />
      </div>
      {flame.error && <Failed error={flame.error} />}
      {!data && flame.waiting && <Waiting what="Adding up the tree." progress={flame.progress} />}
      {isEmpty && <NothingHere did="Nothing ran" />}
      {against && <Difference run={run.name} against={against} />}
      {data && layout && !isEmpty && !against && sandwich !== undefined && (
        <Sandwich name={sandwich} params={params} whole={toNumber(layout.nodes[0]!.total_ps)} amount={layout.amount} />
      )}
      {data && layout && !isEmpty && !against && sandwich === undefined && (
        <Explorer
          layout={layout}
          data={data}
          params={params}
          lit={lit}
          flipped={flipped}
          label={`Flame graph of ${run.name} by ${data.by ?? by}`}
        />
      )}
    </>
  );
}
