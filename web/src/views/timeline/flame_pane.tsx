/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of a range or the window, small; a click goes to the page with it zoomed. */
import { useMemo, useState } from 'preact/hooks';
import { go } from '../../data/place';
import { restriction } from '../../data/restriction';
import { useSteady } from '../../data/steady';
import type { FlameReply } from '../../data/types';
import { FLAME_ROW, paintFlame } from '../../draw/flame';
import { readTokens } from '../../draw/tokens';
import type { Span } from '../../model/address';
import { layoutFlame, nodeAt, pathOf } from '../../model/flame_layout';
import { share, time, toNumber } from '../../model/numbers';
import { Canvas } from '../../ui/canvas';
import { Failed } from '../../ui/states';
import { Name } from '../../ui/text';
import { hideTip, showTip } from '../../ui/tooltip';
import type { TimelineState } from './state';

const BY = ['scope', 'stack', 'source', 'track'];
const NODES_MAX = 2000;

export function FlamePane({ state, span }: { state: TimelineState; span: Span }) {
  const [by, setBy] = useState(BY[0]!);
  const [hover, setHover] = useState<number | null>(null);
  const { data, error } = useSteady<FlameReply>('api/flame', {
    run: state.run.id,
    by,
    ...restriction.value,
    start_ps: span.start,
    end_ps: span.end,
    limit: NODES_MAX,
  });
  const layout = useMemo(() => (data?.root ? layoutFlame(data.root) : null), [data]);
  const [size, setSize] = useState(1);
  const paint = useMemo(
    () => (canvas: HTMLCanvasElement, width: number, height: number) =>
      layout &&
      paintFlame(canvas, {
        layout,
        part: { x: 0, width: 1 },
        width,
        height,
        ratio: devicePixelRatio,
        top: 0,
        hover,
        focus: null,
        lit: null,
        tokens: readTokens(),
      }),
    [layout, hover],
  );
  const at = (x: number, y: number): number | null =>
    layout ? nodeAt(layout, x / size, Math.floor(y / FLAME_ROW)) : null;
  return (
    <>
      <div class="toolbar">
        <label>
          by
          <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            {BY.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {error && <Failed error={error} />}
      {layout && (
        <div class="flame-small">
          <Canvas
            height={Math.max(1, layout.depthCount) * FLAME_ROW}
            label={`Flame graph by ${by}`}
            paint={paint}
            onSize={(width) => setSize(Math.max(1, width))}
            onMove={(x, y, event) => {
              const index = at(x, y);
              setHover(index);
              if (index === null) return hideTip();
              const node = layout.nodes[index]!;
              const part = toNumber(node.total_ps) / Math.max(1, toNumber(layout.nodes[0]!.total_ps));
              showTip(
                <>
                  <Name text={node.name} />
                  <br />
                  <strong>{time(node.total_ps)}</strong>, {share(part)}; self {time(node.self_ps)}
                </>,
                event.clientX,
                event.clientY,
              );
            }}
            onLeave={() => (setHover(null), hideTip())}
            onClick={(x, y) => {
              const index = at(x, y);
              if (index !== null)
                go(
                  {
                    view: 'flame',
                    by,
                    start_ps: String(span.start),
                    end_ps: String(span.end),
                    window: null,
                    zoom: index === 0 ? null : pathOf(layout, index),
                  },
                  'push',
                );
            }}
          />
        </div>
      )}
    </>
  );
}
