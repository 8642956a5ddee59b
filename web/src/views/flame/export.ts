/* Takes what is seen away as a picture: PNG at the screen's resolution, or SVG with the names. */
import { FLAME_ROW, fillOf, paintFlame } from '../../draw/flame';
import { readTokens } from '../../draw/tokens';
import { flameSvg } from '../../model/flame_svg';
import type { FlameLayout } from '../../model/flame_layout';

const WIDTH = 1600;
const CANVAS_MAX = 16000; // pixels of a side that every browser can draw

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export interface Picture {
  layout: FlameLayout;
  zoom: number;
  flipped: boolean;
  lit: ((name: string) => boolean) | null;
  name: string; // of the file, without its end
}

const partOf = ({ layout, zoom }: Picture) => ({ x: layout.x[zoom]!, width: layout.width[zoom]! });

export function saveSvg(picture: Picture): void {
  const tokens = readTokens();
  const text = flameSvg({
    layout: picture.layout, part: partOf(picture), width: WIDTH, flipped: picture.flipped,
    fill: (index) => fillOf(picture.layout, index, tokens).css, ink: tokens.ink, background: tokens.bg,
  });
  save(new Blob([text], { type: 'image/svg+xml' }), `${picture.name}.svg`);
}

export function savePng(picture: Picture): void {
  const canvas = document.createElement('canvas');
  const height = picture.layout.depthCount * FLAME_ROW;
  const ratio = Math.min(2, CANVAS_MAX / height, CANVAS_MAX / WIDTH);
  paintFlame(canvas, {
    layout: picture.layout, part: partOf(picture), width: WIDTH, height, ratio, top: 0, flipped: picture.flipped,
    hover: null, focus: null, lit: picture.lit, tokens: readTokens(),
  });
  canvas.toBlob((blob) => blob && save(blob, `${picture.name}.png`), 'image/png');
}
