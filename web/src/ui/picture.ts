/* SPDX-License-Identifier: Apache-2.0 */
/* Takes what is seen away: PNG at twice the screen's resolution, or SVG with the names as text. The
 * painters of the screen paint it; nothing is drawn in another way. */
import { readTokens } from '../draw/tokens';
import { SvgPen, svgFile, type SvgNeeds } from '../model/svg';

export interface Layer {
  x: number; // CSS pixels
  y: number;
  width: number;
  height: number;
  paint: (canvas: HTMLCanvasElement, ratio: number, pen: SvgPen | null) => void;
}

const CANVAS_MAX = 16_000; // pixels of a side that every browser can draw

function save(blob: Blob | null, name: string): void {
  if (!blob) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function canvasOf(width: number, height: number): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  return [canvas, canvas.getContext('2d')!];
}

function svgNeeds(): SvgNeeds {
  const [, ruler] = canvasOf(1, 1);
  return {
    measure: (text, font) => ((ruler.font = font), ruler.measureText(text).width),
    pixels: (image, x, y, width, height) => {
      const [canvas, context] = canvasOf(width, height);
      if (image instanceof ImageData) context.putImageData(image, -x, -y);
      else context.drawImage(image, x, y, width, height, 0, 0, width, height);
      return canvas.toDataURL();
    },
  };
}

export function savePicture(as: 'svg' | 'png', name: string, layers: readonly Layer[]): void {
  const width = Math.max(...layers.map((layer) => layer.x + layer.width));
  const height = Math.max(...layers.map((layer) => layer.y + layer.height));
  const { bg } = readTokens();
  if (as === 'svg') {
    const needs = svgNeeds();
    const drawings = layers.map((layer, index) => {
      const pen = new SvgPen(`l${index}-`, needs);
      layer.paint(
        { width: layer.width, height: layer.height, style: {}, getContext: () => pen } as unknown as HTMLCanvasElement,
        1,
        pen,
      );
      return { ...layer, text: pen.text() };
    });
    return save(new Blob([svgFile(width, height, bg, drawings)], { type: 'image/svg+xml' }), `${name}.svg`);
  }
  const ratio = Math.min(2, CANVAS_MAX / height, CANVAS_MAX / width);
  const [whole, context] = canvasOf(Math.round(width * ratio), Math.round(height * ratio));
  context.fillStyle = bg;
  context.fillRect(0, 0, whole.width, whole.height);
  for (const layer of layers) {
    const [canvas] = canvasOf(1, 1);
    layer.paint(canvas, ratio, null);
    context.drawImage(canvas, Math.round(layer.x * ratio), Math.round(layer.y * ratio));
  }
  whole.toBlob((blob) => save(blob, `${name}.png`), 'image/png');
}
