/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives an instruction its operands and who uses its result, two hops either way, drawn. */
import { useState } from 'preact/hooks';
import type { HloInstruction } from '../../data/hlo';
import { graphOf, type GraphEdge } from '../../model/hlo_graph';
import { count, plural, time } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';

const ROW = 24;
const GUTTER = 56;
const DOT = 3;

/* An arc to the left, the wider the further apart; its head stands at the one that takes. */
function arcOf({ from, to }: GraphEdge): string {
  const [y1, y2] = [from, to].map((row) => row * ROW + ROW / 2) as [number, number];
  const x = GUTTER - 8;
  const reach = x - Math.min(x - 4, 10 + 5 * Math.abs(to - from));
  return `M${x} ${y1}C${reach} ${y1} ${reach} ${y2} ${x - DOT} ${y2}m-5 -3l5 3l-5 3`;
}

export function HloGraph({ of }: { of: HloInstruction }) {
  const [under, setUnder] = useState(-1);
  const { rows, edges } = graphOf(of);
  const focus = rows.findIndex((row) => row.kind === 'node' && row.focus);
  const lit = under < 0 ? focus : under;
  return (
    <section class="hlo-graph" aria-label="Operands and users">
      <svg
        width={GUTTER}
        height={rows.length * ROW}
        role="img"
        aria-label={`${plural(edges.length, 'edge')} from operands to users`}
      >
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.to}`}
            d={arcOf(edge)}
            class={edge.from === lit || edge.to === lit ? 'lit' : undefined}
          />
        ))}
        {rows.map(
          (row, at) =>
            row.kind === 'node' && (
              <circle
                key={row.of.name}
                cx={GUTTER - 8}
                cy={at * ROW + ROW / 2}
                r={DOT}
                class={at === lit ? 'lit' : undefined}
              />
            ),
        )}
      </svg>
      <ul class="hlo-hop" onMouseLeave={() => setUnder(-1)}>
        {rows.map((row, at) =>
          row.kind === 'head' ? (
            <li key={row.words} class="section">
              {row.words} <span class="faint">{count(row.count)}</span>
            </li>
          ) : (
            <li
              key={row.of.name}
              aria-current={row.focus || undefined}
              onMouseEnter={() => setUnder(at)}
              onFocusCapture={() => setUnder(at)}
            >
              {row.focus ? (
                <strong>
                  <Name text={row.of.name} mono />
                </strong>
              ) : (
                <Link to={{ name: row.of.name, line: null, q: null }}>
                  <Name text={row.of.name} mono />
                </Link>
              )}
              <span class="quiet cut">
                {row.of.opcode} <Name text={row.of.shape} mono />
              </span>
              <span class="number">
                {row.of.self_ps === null || row.of.self_ps === undefined ? '' : time(row.of.self_ps)}
              </span>
            </li>
          ),
        )}
      </ul>
      {of.neighbours_left_out > 0 && <p class="faint">{plural(of.neighbours_left_out, 'more neighbour')} left out.</p>}
    </section>
  );
}
