/* Where time went as a tree: zoom by click, search, the path above. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { restriction } from '../../data/restriction';
import type { FlameReply, RunDetails } from '../../data/types';
import { FLAME_ROW, paintFlame } from '../../draw/flame';
import { readTokens } from '../../draw/tokens';
import { shown } from '../../model/cut';
import { findPath, layoutFlame, nodeAt, pathOf, type FlameLayout } from '../../model/flame_layout';
import { count, share, time, toNumber } from '../../model/numbers';
import { flameSentence } from '../../model/sentence';
import { Canvas } from '../../ui/canvas';
import { registerActions } from '../../ui/keys';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import { Name, SentenceLine } from '../../ui/text';
import { hideTip, showTip } from '../../ui/tooltip';

const BY = ['scope', 'source', 'track'];

function Tip({ layout, index }: { layout: FlameLayout; index: number }) {
  const node = layout.nodes[index]!;
  const of = toNumber(layout.nodes[0]!.total_ps);
  return (
    <>
      <Name text={node.name} />
      <br />
      <strong>{time(node.total_ps)}</strong>, {share(of === 0 ? 0 : toNumber(node.total_ps) / of)}; self {time(node.self_ps)}
      <br />
      <span class="faint">
        {count(node.count)} times{node.kind ? ` · ${node.kind}` : ''}
      </span>
    </>
  );
}

function Crumbs({ layout, zoom }: { layout: FlameLayout; zoom: number }) {
  const path: number[] = [];
  for (let at = zoom; at >= 0; at = layout.parent[at]!) path.unshift(at);
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      {path.map((index, at) => (
        <>
          {at > 0 && <span class="faint"> / </span>}
          <Link to={{ zoom: index === 0 ? null : pathOf(layout, index) }} current={index === zoom}>
            <Name text={layout.nodes[index]!.name} />
          </Link>
        </>
      ))}
    </nav>
  );
}

/* Parent, first child, neighbours: arrows walk the tree. */
function walkTo(layout: FlameLayout, from: number, key: string): number {
  if (key === 'ArrowUp') return Math.max(0, layout.parent[from]!);
  if (key === 'ArrowDown') return layout.next[from]! > from + 1 ? from + 1 : from;
  const parent = layout.parent[from]!;
  if (parent < 0) return from;
  if (key === 'ArrowRight') return layout.next[from]! < layout.next[parent]! ? layout.next[from]! : from;
  let before = parent + 1;
  while (before < from && layout.next[before]! < from) before = layout.next[before]!;
  return before < from ? before : from;
}

function Graph({ layout, lit, label }: { layout: FlameLayout; lit: ((name: string) => boolean) | null; label: string }) {
  const zoom = findPath(layout, query.value.zoom ?? '');
  const [hover, setHover] = useState<number | null>(null);
  const [focus, setFocus] = useState<number | null>(null);
  const [width, setWidth] = useState(1);
  const height = Math.max(FLAME_ROW * (layout.depthCount + 1), 120);
  const at = (x: number, y: number) => nodeAt(layout, zoom, x / width, Math.floor(y / FLAME_ROW));
  const zoomTo = (index: number) => go({ zoom: index === 0 ? null : pathOf(layout, index) });
  const said = focus ?? zoom;
  const key = (event: KeyboardEvent): void => {
    if (/^Arrow/.test(event.key)) setFocus(walkTo(layout, focus ?? zoom, event.key));
    else if (event.key === 'Enter') zoomTo(focus ?? zoom);
    else if (event.key === 'Escape' && zoom > 0) zoomTo(Math.max(0, layout.parent[zoom]!));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <Crumbs layout={layout} zoom={zoom} />
      <div class="flame" tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={label} aria-activedescendant="flame-focus" onKeyDown={key}>
        <Canvas
          height={height} label={label} onSize={setWidth}
          paint={(canvas, wide, high) =>
            paintFlame(canvas, { layout, zoom, width: wide, height: high, ratio: devicePixelRatio, top: 0, hover, focus, lit, tokens: readTokens() })
          }
          onMove={(x, y, event) => {
            const index = at(x, y);
            if (index !== hover) setHover(index);
            if (index === null) hideTip();
            else showTip(<Tip layout={layout} index={index} />, event.clientX, event.clientY);
          }}
          onLeave={() => {
            setHover(null);
            hideTip();
          }}
          onClick={(x, y) => {
            const index = at(x, y);
            if (index === null) return;
            setFocus(index);
            zoomTo(index);
          }}
        />
        <span id="flame-focus" class="hidden-text" aria-live="polite">
          {`${shown(layout.nodes[said]!.name)}, ${time(layout.nodes[said]!.total_ps)}`}
        </span>
      </div>
    </>
  );
}

export function FlameView({ run }: { run: RunDetails }) {
  const asked = BY.includes(query.value.by ?? '') ? query.value.by! : 'scope';
  const params = { run: run.id, by: asked, ...restriction.value };
  const flame = useJson<FlameReply>('api/flame', params);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => registerActions({ search: () => field.current?.focus() }), []);
  const layout = useMemo(() => (flame.data ? layoutFlame(flame.data.root) : null), [flame.data]);
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
      {data && <SentenceLine sentence={flameSentence(data.root, data.of)} />}
      {data?.by && data.by !== asked && <p class="basis">{`This run names no ${asked}s, so the tree is by ${data.by}.`}</p>}
      <div class="toolbar">
        <label>
          by
          <select value={asked} onChange={(event) => go({ by: event.currentTarget.value, zoom: null }, 'push')}>
            {BY.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <input
          ref={field} type="search" aria-label="Search the flame graph" placeholder="search  /" value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {hits && <span aria-live="polite">{`${count(hits.number)} found, ${share(Math.min(1, hits.covered))} of the time`}</span>}
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
      {layout && toNumber(layout.nodes[0]!.total_ps) > 0 && <Graph layout={layout} lit={lit} label={`Flame graph of ${run.name} by ${data?.by ?? asked}`} />}
    </>
  );
}
