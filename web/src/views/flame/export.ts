/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of what is seen as a picture. */
import { FLAME_ROW, paintFlame } from '../../draw/flame';
import { readTokens } from '../../draw/tokens';
import { shown } from '../../model/cut';
import type { FlameLayout } from '../../model/flame_layout';
import { savePicture } from '../../ui/picture';

const WIDTH = 1600;

export interface Picture {
  layout: FlameLayout;
  zoom: number;
  flipped: boolean;
  lit: ((name: string) => boolean) | null;
  name: string; // of the file, without its end
}

export function saveFlame(as: 'svg' | 'png', { layout, zoom, flipped, lit, name }: Picture): void {
  const height = layout.depthCount * FLAME_ROW;
  const part = { x: layout.x[zoom]!, width: layout.width[zoom]! };
  savePicture(as, name, [
    {
      x: 0,
      y: 0,
      width: WIDTH,
      height,
      paint: (canvas, ratio, pen) =>
        paintFlame(canvas, {
          layout,
          part,
          width: WIDTH,
          height,
          ratio,
          top: 0,
          flipped,
          hover: null,
          focus: null,
          lit,
          tokens: readTokens(),
          around: (index, paint) =>
            pen
              ? pen.titled(
                  `${shown(layout.nodes[index]!.name)}, ${layout.amount.say(layout.nodes[index]!.total_ps)}`,
                  paint,
                )
              : paint(),
        }),
    },
  ]);
}
