/* SPDX-License-Identifier: Apache-2.0 */
/* Text in slices: widths are measured once per name, and cut by their ratio. */
import { cutForLabel } from '../model/cut';
import { telling } from '../model/kernel_label';

const CACHE_MAX = 20_000;
const LETTERS_MIN = 4;

export class Labels {
  private readonly widths = new Map<string, number>();
  private readonly short = new Map<string, string>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size >= CACHE_MAX) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  private shorter(text: string): string {
    let short = this.short.get(text);
    if (short === undefined) {
      if (this.short.size >= CACHE_MAX) this.short.clear();
      short = telling(text);
      this.short.set(text, short);
    }
    return short;
  }

  /* The part of `whole` that fits, of a call its function; "" when not even a few letters do. */
  fit(whole: string, room: number): string {
    if (this.width(whole) <= room) return whole;
    const text = this.shorter(whole);
    const width = this.width(text);
    if (width <= room) return text;
    for (let letters = Math.floor((room / width) * text.length); letters >= LETTERS_MIN; letters--) {
      const cut = cutForLabel(text, letters);
      if (this.width(cut) <= room) return cut;
    }
    return '';
  }
}
