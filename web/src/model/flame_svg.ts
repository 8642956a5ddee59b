/* The flame graph of what is seen as SVG: boxes with their names, texts escaped, nothing that runs. */
import { shown } from './cut';
import type { FlameLayout } from './flame_layout';

const ROW = 20;
const NARROWEST = 0.7;
const LETTER = 6.2; // of 11 px, on average

export interface SvgScene {
  layout: FlameLayout;
  part: { x: number; width: number };
  width: number;
  flipped: boolean; // the root is below
  fill: (index: number) => string;
  ink: string;
  background: string;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter]!);

export function flameSvg(scene: SvgScene): string {
  const { layout, part, width } = scene;
  const height = layout.depthCount * ROW;
  const boxes: string[] = [];
  for (let index = 0; index < layout.nodes.length; ) {
    const size = (layout.width[index]! / part.width) * width;
    const x = ((layout.x[index]! - part.x) / part.width) * width;
    if (size < NARROWEST || x + size < 0 || x > width) {
      index = layout.next[index]!;
      continue;
    }
    boxes.push(boxOf(scene, index, Math.max(0, x), Math.min(width, x + size), height));
    index++;
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">\n` +
    `<rect width="100%" height="100%" fill="${escapeXml(scene.background)}"/>\n${boxes.join('\n')}\n</svg>\n`
  );
}

function boxOf(scene: SvgScene, index: number, from: number, to: number, height: number): string {
  const { layout } = scene;
  const node = layout.nodes[index]!;
  const size = Math.max(0.7, to - from);
  const depth = layout.depth[index]!;
  const y = scene.flipped ? height - (depth + 1) * ROW : depth * ROW;
  const letters = Math.floor((size - 8) / LETTER);
  const name = shown(node.name);
  const cut = name.length > letters ? `${name.slice(0, Math.max(0, letters - 1))}…` : name;
  const title = escapeXml(`${name}, ${layout.amount.say(node.total_ps)}`);
  const text = letters < 3 ? '' : `<text x="${(from + 4).toFixed(1)}" y="${y + 13}" fill="${escapeXml(scene.ink)}">${escapeXml(cut)}</text>`;
  return `<g><title>${title}</title><rect x="${from.toFixed(2)}" y="${y}" width="${size.toFixed(2)}" height="${ROW - 2}" fill="${escapeXml(scene.fill(index))}"/>${text}</g>`;
}
