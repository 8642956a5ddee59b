/* SPDX-License-Identifier: Apache-2.0 */
/* A drawing as SVG: it takes what painters say to a canvas's context, and writes it down.
 *
 *   fillRect, strokeRect, paths     shapes
 *   fillText                        texts, escaped: nothing in a name runs
 *   putImageData, drawImage         pixels as they are, each a PNG
 */
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
export const escapeXml = (text: string): string =>
  text.replace(UNPRINTABLE, '�').replace(/[&<>"']/g, (letter) => ESCAPES[letter]!);

const px = (value: number): string => String(Math.round(value * 100) / 100);

/* What needs a browser: how wide a text is, and pixels as a PNG's address. */
export interface SvgNeeds {
  measure: (text: string, font: string) => number;
  pixels: (image: ImageData | CanvasImageSource, x: number, y: number, width: number, height: number) => string;
}

export class SvgPen {
  fillStyle: string | { url: string } = 'black';
  strokeStyle = 'black';
  lineWidth = 1;
  globalAlpha = 1;
  font = '11px sans-serif';
  textBaseline = 'middle';
  imageSmoothingEnabled = false;
  private readonly parts: string[] = [];
  private readonly saved: { alpha: number; groups: number }[] = [];
  private groups = 0;
  private path = '';
  private dash = '';
  private ids = 0;

  constructor(
    private readonly name: string, // of this drawing's own ids
    private readonly needs: SvgNeeds,
  ) {}

  text(): string {
    return this.parts.join('\n');
  }

  private get fillOf(): string {
    const fill = typeof this.fillStyle === 'string' ? escapeXml(this.fillStyle) : this.fillStyle.url;
    return `fill="${fill}"${this.globalAlpha < 1 ? ` fill-opacity="${px(this.globalAlpha)}"` : ''}`;
  }

  private get strokeOf(): string {
    return `fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${px(this.lineWidth)}"${this.dash}`;
  }

  private rectangle(x: number, y: number, width: number, height: number, paint: string): void {
    if (width > 0 && height > 0)
      this.parts.push(`<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" ${paint}/>`);
  }

  /* What follows, up to the end, is said to be this. */
  titled(title: string, paint: () => void): void {
    this.parts.push(`<g><title>${escapeXml(title)}</title>`);
    paint();
    this.parts.push('</g>');
  }

  setTransform(): void {}
  clearRect(): void {}
  fillRect(x: number, y: number, width: number, height: number): void {
    this.rectangle(x, y, width, height, this.fillOf);
  }
  strokeRect(x: number, y: number, width: number, height: number): void {
    this.rectangle(x, y, width, height, this.strokeOf);
  }
  setLineDash(lengths: readonly number[]): void {
    this.dash = lengths.length === 0 ? '' : ` stroke-dasharray="${lengths.map(px).join(' ')}"`;
  }

  beginPath(): void {
    this.path = '';
  }
  moveTo(x: number, y: number): void {
    this.path += `M${px(x)} ${px(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `L${px(x)} ${px(y)}`;
  }
  bezierCurveTo(...at: number[]): void {
    this.path += `C${at.map(px).join(' ')}`;
  }
  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${px(x)} ${px(y)}h${px(width)}v${px(height)}h${px(-width)}z`;
  }
  fill(): void {
    if (this.path !== '') this.parts.push(`<path d="${this.path}" ${this.fillOf}/>`);
  }
  stroke(): void {
    if (this.path !== '') this.parts.push(`<path d="${this.path}" ${this.strokeOf}/>`);
  }
  clip(): void {
    const id = `${this.name}${++this.ids}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.groups++;
  }
  save(): void {
    this.saved.push({ alpha: this.globalAlpha, groups: this.groups });
  }
  restore(): void {
    const { alpha, groups } = this.saved.pop() ?? { alpha: 1, groups: 0 };
    this.globalAlpha = alpha;
    for (; this.groups > groups; this.groups--) this.parts.push('</g>');
  }

  measureText(text: string): { width: number } {
    return { width: this.needs.measure(text, this.font) };
  }
  fillText(text: string, x: number, y: number): void {
    const size = parseFloat(this.font.replace(/^\D*/, '')) || 11;
    const bold = this.font.startsWith('600') ? ' font-weight="600"' : '';
    const place = `x="${px(x)}" y="${px(y + size * 0.36)}"`;
    this.parts.push(`<text ${place} font-size="${px(size)}"${bold} ${this.fillOf}>${escapeXml(text)}</text>`);
  }

  private image(url: string, x: number, y: number, width: number, height: number): void {
    if (url !== '')
      this.parts.push(
        `<image x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" ` +
          `preserveAspectRatio="none" style="image-rendering:pixelated" href="${url}"/>`,
      );
  }
  putImageData(image: ImageData, x: number, y: number): void {
    this.image(this.needs.pixels(image, 0, 0, image.width, image.height), x, y, image.width, image.height);
  }
  drawImage(
    image: CanvasImageSource,
    sx: number,
    sy: number,
    swidth: number,
    sheight: number,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void {
    this.image(this.needs.pixels(image, sx, sy, swidth, sheight), x, y, width, height);
  }
  createPattern(image: { width: number; height: number } & CanvasImageSource): { url: string } {
    const id = `${this.name}${++this.ids}`;
    const { width, height } = image;
    const url = this.needs.pixels(image, 0, 0, width, height);
    this.parts.push(
      `<pattern id="${id}" width="${width}" height="${height}" patternUnits="userSpaceOnUse">` +
        `<image width="${width}" height="${height}" href="${url}"/></pattern>`,
    );
    return { url: `url(#${id})` };
  }
}

/* Drawings side by side and over one another, as one file. */
export function svgFile(
  width: number,
  height: number,
  background: string,
  drawings: readonly { x: number; y: number; width: number; height: number; text: string }[],
): string {
  const inner = drawings.map(
    (one) =>
      `<svg x="${px(one.x)}" y="${px(one.y)}" width="${px(one.width)}" height="${px(one.height)}" ` +
      `overflow="hidden">\n${one.text}\n</svg>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${px(width)}" height="${px(height)}" ` +
    `viewBox="0 0 ${px(width)} ${px(height)}" font-family="sans-serif" font-size="11">\n` +
    `<rect width="100%" height="100%" fill="${escapeXml(background)}"/>\n${inner.join('\n')}\n</svg>\n`
  );
}
