/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions as a graph: what is around one, or all of a computation; fusions open, scopes fold. */
import { useMemo } from 'preact/hooks';
import { AMOUNT_WORDS } from '../../../model/colouring';
import type { HloGraphReply, HloModule } from '../../../data/hlo';
import { go, query } from '../../../data/place';
import { useJson } from '../../../data/resource';
import { shortScope, shortSource } from '../../../model/cut';
import { countBoxes, depthOf, depthThatFits, NODES_MAX, pictureOf } from '../../../model/pictures/hlo_picture';
import type { Placed } from '../../../model/pictures/hlo_placed';
import { count, plural, time } from '../../../model/numbers';
import { Link } from '../../../ui/link';
import { Failed, Waiting } from '../../../ui/states';
import { Name } from '../../../ui/text';
import { GraphCanvas } from './canvas';
import { usePlacement } from './use_placement';

const AROUND_MAX = 400; // instructions
const WHOLE_MAX = 10_000;
const HOPS = [1, 2, 3, 4];

function listOf(text: string | undefined): string[] {
  return (text ?? '').split(',').filter(Boolean);
}

function Tip({ graph, placed }: { graph: HloGraphReply; placed: Placed }) {
  const { box } = placed;
  const node = graph.nodes[box.nodes[0]!]!;
  return (
    <>
      <strong>
        <Name text={box.isGroup ? box.id.replace(/^\d+\/s:/, '') : node.name} mono />
      </strong>
      <div>{box.isGroup ? box.about : `${node.opcode} ${node.fusion_kind ?? ''}`}</div>
      {!box.isGroup && (
        <div>
          <Name text={node.shape} mono />
        </div>
      )}
      {box.self !== null && (
        <div>
          {time(box.self)}
          {!box.isGroup && node.execution_count !== null && ` in ${plural(node.execution_count, 'execution')}`}
        </div>
      )}
      {!box.isGroup && node.scope && (
        <div>
          <Name text={shortScope(node.scope)} />
        </div>
      )}
      {!box.isGroup && node.source && (
        <div>
          <Name text={shortSource(node.source)} mono />
        </div>
      )}
    </>
  );
}

function Tones({ longest }: { longest: number }) {
  if (longest <= 0) return <span class="faint">no times are known</span>;
  return (
    <span class="hlo-tones" data-tip={`Self time, of the longest box: ${AMOUNT_WORDS.join(', ')}`}>
      0
      {[1, 2, 3, 4, 5].map((tone) => (
        <span key={tone} class={`swatch amount-${tone}`} />
      ))}
      {time(longest)}
    </span>
  );
}

interface Props {
  run: string;
  module: HloModule;
  entry: string | null;
}

export function HloPicture({ run, module, entry }: Props) {
  const { name, around, computation, q } = query.value;
  const center = computation === undefined ? (around ?? name) : undefined;
  const hops = HOPS.includes(Number(query.value.hops)) ? Number(query.value.hops) : 2;
  const inside = query.value.inside;
  const reply = useJson<{ graph: HloGraphReply }>('api/hlo', {
    run,
    module: module.key,
    view: 'graph',
    ...(center !== undefined ? { instruction: center, hops, limit: AROUND_MAX } : { limit: WHOLE_MAX }),
    ...(computation !== undefined ? { computation } : {}),
    ...(inside ? { inside } : {}),
  });
  const graph = reply.data?.graph ?? null;
  const asked = query.value.depth;
  const depths = graph ? depthOf(graph) : 0;
  const depth = useMemo(() => {
    if (asked !== undefined && /^\d$/.test(asked)) return Number(asked);
    if (graph === null || graph.nodes.length <= NODES_MAX) return 0;
    return depthThatFits(graph) ?? 0;
  }, [graph, asked]);
  const level = useMemo(() => (graph ? pictureOf(graph, depth) : null), [graph, depth]);
  const boxes = level ? countBoxes(level) : 0;
  const laid = usePlacement(level !== null && boxes <= NODES_MAX ? level : null);
  const placement = laid?.placement ?? null;
  const word = q?.trim().toLowerCase() ?? '';
  const lit = useMemo(
    () =>
      word === '' || !graph
        ? null
        : ({ box }: Placed) =>
            box.nodes.some((index) => {
              const node = graph.nodes[index]!;
              return [node.name, node.opcode, node.scope, node.source].some((one) => one?.toLowerCase().includes(word));
            }),
    [graph, word],
  );
  const focus = useMemo(() => {
    const index = graph?.nodes.findIndex((node) => node.name === name) ?? -1;
    /* Inside of an opened box before the box around it. */
    return index < 0 ? null : (placement?.boxes.findLast((one) => one.box.nodes.includes(index))?.box.id ?? null);
  }, [graph, placement, name]);
  const longest = placement?.boxes.reduce((most, { box }) => Math.max(most, box.self ?? 0), 0) ?? 0;
  const hidden = placement?.links.filter((link) => link.points.length === 0).length ?? 0;
  const hits = lit && placement ? placement.boxes.filter(lit).length : 0;
  const toggle = (called: string): void => {
    const now = listOf(inside);
    const next = now.includes(called) ? now.filter((one) => one !== called) : [...now, called];
    go({ inside: next.join(',') || null }, 'replace');
  };
  const whole = graph?.computation ?? computation ?? entry;
  return (
    <div class="hlo-graph-page">
      <div class="toolbar">
        {center !== undefined && (
          <label>
            around{' '}
            <select
              value={String(hops)}
              onChange={(event) =>
                go({ hops: event.currentTarget.value === '2' ? null : event.currentTarget.value }, 'replace')
              }
            >
              {HOPS.map((one) => (
                <option key={one} value={String(one)}>
                  {plural(one, 'hop')}
                </option>
              ))}
            </select>
          </label>
        )}
        {center !== undefined && whole && (
          <Link to={{ computation: whole, around: null, inside: null, depth: null }}>
            all of <Name text={whole} mono />
          </Link>
        )}
        {center === undefined && name && (
          <Link to={{ computation: null, around: name, inside: null, depth: null }}>
            around <Name text={name} mono />
          </Link>
        )}
        {depths > 0 && (
          <label>
            scopes{' '}
            <select
              value={String(depth)}
              onChange={(event) => go({ depth: event.currentTarget.value, inside: null }, 'replace')}
            >
              <option value="0">each instruction</option>
              {Array.from({ length: depths }, (_, at) => (
                <option key={at} value={String(at + 1)}>
                  folded at level {at + 1}
                </option>
              ))}
            </select>
          </label>
        )}
        {placement && <Tones longest={longest} />}
        {lit && placement && <span aria-live="polite">{count(hits)} found</span>}
        <span class="quiet hlo-graph-about">
          {placement && plural(placement.boxes.length, 'box', 'boxes')}
          {hidden > 0 && `; ${plural(hidden, 'long link')} seen where an end is chosen`}
          {graph !== null && graph.left_out > 0 && graph.nodes.length > 0 && `; ${count(graph.left_out)} left out`}
        </span>
      </div>
      {reply.error && <Failed error={reply.error} />}
      {laid?.error && <Failed error={laid.error} />}
      {!graph && reply.waiting && <Waiting what="Reading the graph." progress={reply.progress} />}
      {graph && (boxes > NODES_MAX || graph.nodes.length === 0) ? (
        <p class="state">
          {`${whole ?? 'The module'} has ${count(Math.max(boxes, graph.left_out))} instructions; `}
          {`a graph shows up to ${count(NODES_MAX)}. `}
          Fold its scopes, choose one instruction, or read <Link to={{ as: null }}>the text</Link>.
        </p>
      ) : (
        graph &&
        !placement &&
        !laid?.error && <p class="state waiting">{`Laying out ${plural(boxes, 'box', 'boxes')}.`}</p>
      )}
      {graph && placement && (
        <GraphCanvas
          placement={placement}
          longest={longest}
          focus={focus}
          lit={lit}
          label={
            graph.center === null
              ? `Graph of ${graph.computation}`
              : `Graph of what is around ${graph.center}, ${plural(hops, 'hop')}`
          }
          tip={(placed) => <Tip graph={graph} placed={placed} />}
          onFocus={(placed) =>
            go(
              placed === null
                ? { name: center === undefined ? null : (name ?? null) }
                : {
                    name: graph.nodes[placed.box.nodes[0]!]!.name,
                    line: null,
                    around: computation === undefined ? (graph.center ?? null) : null,
                  },
              'replace',
            )
          }
          onCenter={({ box }) =>
            box.isGroup
              ? go({ depth: String(Math.min(9, depth + 1)) }, 'replace')
              : go(
                  {
                    name: graph.nodes[box.nodes[0]!]!.name,
                    around: graph.nodes[box.nodes[0]!]!.name,
                    computation: null,
                    line: null,
                    inside: null,
                    depth: null,
                  },
                  'push',
                )
          }
          onOpen={({ box }) => box.calls[0] !== undefined && toggle(box.calls[0])}
        />
      )}
    </div>
  );
}
