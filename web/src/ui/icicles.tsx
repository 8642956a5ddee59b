/* SPDX-License-Identifier: Apache-2.0 */
/* Where the change sits: the scopes of A at the left and of B at the right, in one order and one
 * scale, coloured by how their time changed. */
import type { Diff } from '../data/diff';
import { go, query } from '../data/place';
import { change, ratioWords } from '../model/compare';
import { cellsOf, nodeAtPath, partsOf, scopeTree, toneOf, type ScopeNode } from '../model/compare_tree';
import { shown } from '../model/cut';
import { time, toNumber } from '../model/numbers';
import { Link } from './link';
import { pageWidth } from './table';
import { Name } from './text';

const ROW = 20;
const NARROWEST_PIXELS = 2;
const LABEL_PIXELS = 32;

function tipOf(node: ScopeNode): string {
  const ratio = ratioWords(node.a, node.b);
  const sides = `A ${time(node.a)}, B ${time(node.b)}, ${change(node.b - node.a)}`;
  return `${shown(node.path || node.name)}: ${sides}${ratio && ` (${ratio})`}`;
}

function Icicle({ top, side, perPs, stepPs }: { top: ScopeNode; side: 'a' | 'b'; perPs: number; stepPs: number }) {
  const room = Math.min(2560, pageWidth.value) / 2;
  const cells = cellsOf(top, side, perPs, NARROWEST_PIXELS / room);
  const depth = cells.reduce((most, cell) => Math.max(most, cell.depth + 1), 1);
  return (
    <div
      class="icicle"
      role="img"
      aria-label={`Scopes of ${side.toUpperCase()}; the table below has the same`}
      style={{ height: `${depth * ROW}px` }}
    >
      {cells.map((cell) => (
        <div
          key={cell.node.path}
          class={`tone-${toneOf(cell.node, stepPs)}`}
          data-tip={tipOf(cell.node)}
          onClick={() => go({ zoom: cell.node.path || null })}
          style={{ left: `${cell.from * 100}%`, width: `${cell.width * 100}%`, top: `${cell.depth * ROW}px` }}
        >
          {cell.width * room >= LABEL_PIXELS && (
            <Name
              text={
                cell.depth === 0
                  ? `${side.toUpperCase()}  ${shown(cell.node.name)}  ${time(cell.node[side])}`
                  : cell.node.name
              }
            />
          )}
        </div>
      ))}
    </div>
  );
}

function Crumbs({ top }: { top: ScopeNode }) {
  const parts = partsOf(top.path);
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      {['all', ...parts].map((name, at) => (
        <>
          {at > 0 && <span class="faint"> / </span>}
          <Link to={{ zoom: at === 0 ? null : parts.slice(0, at).join('/') }} current={at === parts.length}>
            <Name text={name} />
          </Link>
        </>
      ))}
    </nav>
  );
}

export function Icicles({ diff }: { diff: Diff }) {
  const top = nodeAtPath(scopeTree(diff.rows), query.value.zoom ?? '');
  const longest = Math.max(top.a, top.b);
  if (longest === 0) return null;
  const stepPs = Math.max(toNumber(diff.a.mean_ps), toNumber(diff.b.mean_ps));
  return (
    <div class="icicles">
      <div class="icicles-head">
        {top.path !== '' && <Crumbs top={top} />}
        <span class="tones" aria-label="Colours">
          slower
          {[1, 2, 3, 4, 5, 6, 7].map((tone) => (
            <span key={tone} class={`swatch tone-${tone}`} />
          ))}
          faster, by 10 %, 3 %, 0.5 % of the longer step
        </span>
      </div>
      <div class="icicles-two">
        {(['a', 'b'] as const).map((side) => (
          <Icicle key={side} top={top} side={side} perPs={1 / longest} stepPs={stepPs} />
        ))}
      </div>
    </div>
  );
}
