/* Text in slices: widths are measured once per name, and cut by their ratio. */
import { cutMiddle } from '../model/cut';

const CACHE_MAX = 20_000;
const LETTERS_MIN = 5;

export class Labels {
  private readonly widths = new Map<string, number>();

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

  /* The part of `text` that fits, both ends kept; "" when not even five letters do. */
  fit(text: string, room: number): string {
    const width = this.width(text);
    if (width <= room) return text;
    for (let letters = Math.floor((room / width) * text.length); letters >= LETTERS_MIN; letters--) {
      const cut = cutMiddle(text, letters);
      if (this.width(cut) <= room) return cut;
    }
    return '';
  }
}
