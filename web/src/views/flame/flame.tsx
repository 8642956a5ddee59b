/* Where time went as a tree: zoom by click, search, the path above. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import { absence, type FlameReply, type RunDetails } from '../../data/types';
import { amountOf, asWidths } from '../../model/amount';
import { findPath, layoutFlame, pathOf, type FlameLayout } from '../../model/flame_layout';
import { count, share, toNumber } from '../../model/numbers';
import { flameSentence } from '../../model/sentence';
import { registerActions } from '../../ui/keys';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import { Name, SentenceLine } from '../../ui/text';
import { Graph } from './graph';
import { Relatives } from './relatives';

const BY = ['scope', 'source', 'track', 'stack'];

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

/* Graph, path above, relatives of the focus below. */
function Explorer({ layout, lit, label }: { layout: FlameLayout; lit: ((name: string) => boolean) | null; label: string }) {
  const zoom = findPath(layout, query.value.zoom ?? '');
  const focused = findPath(layout, query.value.key ?? '');
  const focus = focused > 0 ? focused : zoom > 0 ? zoom : null;
  const zoomTo = (index: number) => go({ zoom: index === 0 ? null : pathOf(layout, index), key: null });
  return (
    <>
      <Crumbs layout={layout} zoom={zoom} />
      <Graph layout={layout} zoom={zoom} focus={focus} lit={lit} label={label} onFocus={(index) => go({ key: pathOf(layout, index) || null }, 'replace')} onZoom={zoomTo} />
      {focus !== null && <Relatives layout={layout} focus={focus} onOpen={(index) => go({ key: pathOf(layout, index) || null }, 'replace')} />}
    </>
  );
}

export function FlameView({ run }: { run: RunDetails }) {
  const known = absence(run, 'timeline') === null ? BY : ['stack']; // snapshots have nothing else
  const asked = known.includes(query.value.by ?? '') ? query.value.by! : known[0]!;
  const params = { run: run.id, by: asked, ...(asked === 'stack' && query.value.snapshot ? { snapshot: query.value.snapshot } : {}), ...restriction.value };
  const flame = useJson<FlameReply>('api/flame', params);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => registerActions({ search: () => field.current?.focus() }), []);
  const layout = useMemo(() => (flame.data?.root ? layoutFlame(asWidths(flame.data.root), amountOf(flame.data.unit ?? 'ps')) : null), [flame.data]);
  const word = text.trim().toLowerCase();
  const lit = useMemo(() => (word === '' ? null : (name: string) => name.toLowerCase().includes(word)), [word]);
  const hits = useMemo(() => {
    if (!layout || !lit) return null;
    let covered = 0;
    let number = 0;
    for (let index = 0; index < layout.nodes.length; ) {
      if (!lit(layout.nodes[index]!.name)) index++;
      else {
        number++;
        covered += layout.width[index]!;
        index = layout.next[index]!;
      }
    }
    return { number, covered };
  }, [layout, lit]);
  const data = flame.data;
  return (
    <>
      {data && layout && <SentenceLine sentence={flameSentence(layout.nodes[0]!, data.of, data.type ? `all ${data.type}` : undefined)} />}
      {data?.by && data.by !== asked && <p class="basis">{`This run names no ${asked}s, so the tree is by ${data.by}.`}</p>}
      <div class="toolbar">
        <label>
          by
          <select value={asked} onChange={(event) => go({ by: event.currentTarget.value, zoom: null }, 'push')}>
            {known.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <input
          ref={field} type="search" aria-label="Search the flame graph" placeholder="search  /" value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {hits && <span aria-live="polite">{`${count(hits.number)} found, ${share(Math.min(1, hits.covered))} of ${layout!.amount.noun}`}</span>}
        <a href={address('api/flame', { ...params, format: 'folded' })} download={`${run.name}.folded`}>
          folded
        </a>
        <a href={address('api/flame', { ...params, format: 'speedscope' })} download={`${run.name}.speedscope.json`}>
          speedscope
        </a>
      </div>
      {flame.error && <Failed error={flame.error} />}
      {!data && flame.waiting && <Waiting what="Adding up the tree." progress={flame.progress} />}
      {layout && toNumber(layout.nodes[0]!.total_ps) === 0 && <p class="state">Nothing ran in what this page is narrowed to.</p>}
      {layout && toNumber(layout.nodes[0]!.total_ps) > 0 && <Explorer layout={layout} lit={lit} label={`Flame graph of ${run.name} by ${data?.by ?? asked}`} />}
    </>
  );
}
