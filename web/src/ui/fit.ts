/* SPDX-License-Identifier: Apache-2.0 */
/* Text that fits its place: measured, not left to the style sheet, so that both ends of a name stay
 * and what is cut still begins at the left edge.
 *
 *   middle   broadcast_a…fusion.2        names: twelve letters stay at each end while they can
 *   front    …/attn/softmax              scopes and sources: what says most stands at the end
 */
import { createContext } from 'preact';

export interface Room {
  pixels: number;
  front: boolean;
}

/* Of a table's cell; null: the place is as wide as the text. */
export const RoomContext = createContext<Room | null>(null);

const CACHE_MAX = 50_000;
const SLACK_PIXELS = 1;

const context = new OffscreenCanvas(1, 1).getContext('2d')!;
const widths = new Map<string, number>();
let fonts: { ui: string; mono: string } | null = null;

function fontOf(mono: boolean): string {
  const read = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  fonts ??= { ui: `13px ${read('--ui')}`, mono: `12px ${read('--mono')}` };
  return mono ? fonts.mono : fonts.ui;
}

export function textWidth(text: string, mono = false): number {
  const key = mono ? `m${text}` : `u${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size >= CACHE_MAX) widths.clear();
    context.font = fontOf(mono);
    width = context.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

/* The end of a path begins at an element where one is near: farther off it would cost what tells two
 * paths apart, as the layer in …vp(layer_0))/attention/transpose. */
const NEAR = 1 / 6;

function cutFront(text: string, letters: number): string {
  const tail = text.slice(-letters);
  const element = tail.indexOf('/');
  return `…${element >= 0 && element <= letters * NEAR ? tail.slice(element) : tail}`;
}

function cutMiddle(text: string, letters: number): string {
  const tail = Math.floor(letters / 2);
  return `${text.slice(0, letters - tail)}…${tail === 0 ? '' : text.slice(-tail)}`;
}

export function fitText(full: string, { pixels, front }: Room, mono = false): string {
  let text = full;
  const room = pixels - SLACK_PIXELS;
  if (textWidth(text, mono) <= room) return text;
  /* Older scopes end with the op's parameters: dot_general[dimension_numbers=...] */
  if (front) text = text.replace(/(?<=\w)\[.*\]$/, '[…]');
  const whole = textWidth(text, mono);
  if (whole <= room) return text;
  const cut = front ? cutFront : cutMiddle;
  let letters = Math.max(1, Math.ceil((room / whole) * text.length));
  while (letters > 1 && textWidth(cut(text, letters), mono) > room) letters--;
  return cut(text, letters);
}
