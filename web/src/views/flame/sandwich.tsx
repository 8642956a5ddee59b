/* SPDX-License-Identifier: Apache-2.0 */
/* One name over all its places: what leads to it above, the nearest caller next to it, and what it
 * leads to below.
 *
 *   [ main          ]
 *   [ a     ][ b    ]     callers
 *   [ f             ]
 *   [ x    ][ y ]         callees
 */
import { useMemo } from 'preact/hooks';
import type { Params } from '../../data/api';
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import type { FlameReply } from '../../data/types';
import type { Amount } from '../../model/amount';
import { asWidths } from '../../model/amount';
import { layoutFlame, type FlameLayout } from '../../model/flame_layout';
import { plural, share, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Failed, Waiting } from '../../ui/states';
import { Name } from '../../ui/text';
import { Graph } from './graph';

const NODES_MAX = 5000; // either way

interface Props {
  name: string;
  params: Params;
  whole: number; // what the run's own tree sums to
  amount: Amount;
}

function Side({ title, layout, flipped }: { title: string; layout: FlameLayout; flipped: boolean }) {
  const open = (index: number) => {
    const { name } = layout.nodes[index]!;
    if (index > 0 && name !== '(other)') go({ sandwich: name, key: null }, 'push');
  };
  return (
    <section class="sandwich-side" aria-label={title}>
      <h2 class="section">{title}</h2>
      {layout.nodes.length > 1 ? (
        <Graph
          layout={layout}
          zoom={0}
          focus={null}
          lit={null}
          flipped={flipped}
          label={title}
          onFocus={open}
          onZoom={open}
        />
      ) : (
        <p class="quiet">{flipped ? 'Nothing stands above it.' : 'Nothing stands below it.'}</p>
      )}
    </section>
  );
}

export function Sandwich({ name, params, whole, amount }: Props) {
  const reply = useJson<FlameReply>('api/flame', { ...params, focus: name, sandwich: 'yes', limit: NODES_MAX });
  const sides = reply.data?.sandwich ?? null;
  const layouts = useMemo(
    () =>
      sides && {
        callers: layoutFlame(asWidths(sides.callers), amount),
        callees: layoutFlame(asWidths(sides.callees), amount),
      },
    [sides],
  );
  const focus = reply.data?.focus ?? null;
  const total = focus ? toNumber(focus.total_ps ?? focus.total ?? 0) : 0;
  return (
    <div class="sandwich">
      <p class="dots">
        <span>
          <Link to={{ sandwich: null }}>all</Link>
        </span>
        <strong>
          <Name text={name} />
        </strong>
        {focus && (
          <>
            <span>
              {amount.say(total)}
              {whole > 0 && `, ${share(total / whole)} of all`}
            </span>
            <span>self {amount.say(toNumber(focus.self_ps ?? focus.self ?? 0))}</span>
            <span>{plural(focus.places, 'place')}</span>
          </>
        )}
      </p>
      {reply.error && <Failed error={reply.error} />}
      {!reply.data && reply.waiting && <Waiting what="Adding up callers and callees." progress={reply.progress} />}
      {reply.data && !layouts && <p class="state">No frame of this tree is called “{name}”.</p>}
      {layouts && (
        <>
          <Side title="Callers" layout={layouts.callers} flipped />
          <Side title="Callees" layout={layouts.callees} flipped={false} />
        </>
      )}
    </div>
  );
}
