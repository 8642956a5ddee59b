/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of instructions with its places: what is inside of an opened box is laid out first, and
 * makes the box as large as it needs. Runs beside the page: views/hlo/layout_worker.ts. */
import { HEAD, type PictureBox, type PictureLevel } from './hlo_picture';
import { layered, type PlacedLink } from './layered';

export interface Placed {
  box: PictureBox;
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number; // of boxes around it
}

export interface Placement {
  boxes: Placed[]; // whoever is around before what is inside
  links: PlacedLink[];
  width: number;
  height: number;
}

const INSET = 8;

interface Inner {
  placement: Placement;
  width: number;
  height: number;
}

function innerOf(box: PictureBox, depth: number): Inner | null {
  if (box.inner === null) return null;
  const placement = place(box.inner, depth + 1);
  return {
    placement,
    width: Math.max(box.width, placement.width + 2 * INSET),
    height: HEAD + placement.height + INSET,
  };
}

export function place(level: PictureLevel, depth = 0): Placement {
  const inner = new Map(level.boxes.map((box) => [box.id, innerOf(box, depth)]));
  const sizes = level.boxes.map(({ id, width, height }) => {
    const inside = inner.get(id);
    return { id, width: inside?.width ?? width, height: inside?.height ?? height };
  });
  const laid = layered(sizes, level.links);
  const placement: Placement = { boxes: [], links: [...laid.links], width: laid.width, height: laid.height };
  laid.boxes.forEach(({ x, y, width, height }, at) => {
    const box = level.boxes[at]!;
    placement.boxes.push({ box, x, y, width, height, depth });
    const inside = inner.get(box.id)?.placement;
    if (!inside) return;
    const [left, top] = [x + INSET, y + HEAD];
    for (const one of inside.boxes) placement.boxes.push({ ...one, x: one.x + left, y: one.y + top });
    for (const link of inside.links)
      placement.links.push({ ...link, points: link.points.map((point) => ({ x: point.x + left, y: point.y + top })) });
  });
  return placement;
}
