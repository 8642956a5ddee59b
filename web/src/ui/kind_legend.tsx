/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of work: share, and time per step where there are steps. */
import type { Ps } from '../data/json';
import type { Kind } from '../data/types';
import { plural, share, time, toNumber } from '../model/numbers';
import { Link } from './link';

/* Of these no op of a device need be: not what a host did, nor copies where kernels are all that is told. */
const BY_NAME: ReadonlySet<Kind> = new Set(['host', 'input', 'compile', 'copy']);

export interface KindPart {
  kind: Kind;
  label?: string;
  self_ps: Ps;
  share: number;
}

export function KindLegend({ parts, steps }: { parts: readonly KindPart[]; steps: number }) {
  return (
    <ul class="legend" aria-label="Kinds of work">
      {parts
        .filter((part) => part.share > 0 || part.kind === 'idle')
        .map((part) => (
          <li
            key={part.kind}
            class={`kind-${part.kind}`}
            data-tip={`${time(part.self_ps)} in all${steps > 1 ? `, ${plural(steps, 'step')}` : ''}`}
          >
            <span>
              <span class="swatch" />
              {part.kind === 'idle' ? (
                (part.label ?? 'idle')
              ) : (
                <Link to={{ view: 'ops', by: BY_NAME.has(part.kind) ? 'name' : null, q: `kind:${part.kind}` }}>
                  {part.kind}
                </Link>
              )}
            </span>
            <span class="number">{share(part.share)}</span>
            {steps > 0 && <span class="number quiet">{time(toNumber(part.self_ps) / steps)} a step</span>}
          </li>
        ))}
    </ul>
  );
}
