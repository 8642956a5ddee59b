/* SPDX-License-Identifier: Apache-2.0 */
/* Where a zoomed graph stands in the whole: a click leads to what is there. */
import { FLAME_MAP_HEIGHT, paintFlameMap } from '../../draw/flame_map';
import { readTokens } from '../../draw/tokens';
import { nodeAt, type FlameLayout } from '../../model/flame_layout';
import { shown } from '../../model/cut';
import { useState } from 'preact/hooks';
import { Canvas } from '../../ui/canvas';
import { hideTip, showTip } from '../../ui/tooltip';

interface Props {
  layout: FlameLayout;
  zoom: number;
  flipped: boolean;
  onZoom: (index: number) => void;
}

export function FlameMap({ layout, zoom, flipped, onZoom }: Props) {
  const [width, setWidth] = useState(0);
  const part = { x: layout.x[zoom]!, width: layout.width[zoom]! };
  const at = (x: number, y: number): number | null => {
    const row = Math.min(5, FLAME_MAP_HEIGHT / layout.depthCount);
    const depth = Math.floor((flipped ? FLAME_MAP_HEIGHT - y : y) / row);
    for (let level = Math.min(depth, layout.depthCount - 1); level >= 0; level--) {
      const found = nodeAt(layout, x / Math.max(1, width), level);
      if (found !== null) return found;
    }
    return null;
  };
  return (
    <div class="flame-map">
      <Canvas
        height={FLAME_MAP_HEIGHT}
        label={`The whole graph; shown is ${shown(layout.nodes[zoom]!.name)}`}
        onSize={setWidth}
        paint={(canvas, room) => paintFlameMap(canvas, layout, part, room, devicePixelRatio, flipped, readTokens())}
        onMove={(x, y, event) => {
          const found = at(x, y);
          if (found === null) hideTip();
          else showTip(shown(layout.nodes[found]!.name), event.clientX, event.clientY);
        }}
        onLeave={() => hideTip()}
        onClick={(x, y) => {
          const found = at(x, y);
          if (found !== null) onZoom(found);
        }}
      />
    </div>
  );
}
