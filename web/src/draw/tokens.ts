/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet's colours, read once per theme, as canvases want them. */
import { KINDS } from '../data/types';
import { AMOUNT_SLOT, FAMILIES, FAMILY_SLOT, NAME_SLOT, SLOTS } from '../model/colouring';

export interface KindColours {
  fills: [number, number, number]; // ABGR
  css: [string, string, string];
  label: string;
  stroke: number;
  strokeCss: string;
}

export interface SlotColours {
  fill: number; // ABGR
  css: string;
  label: string;
  stroke: number;
}

export interface Tokens {
  bg: string;
  bg2: string;
  bg3: string;
  line: string;
  edge: string;
  ink: string;
  ink2: string;
  ink3: string;
  accent: string;
  select: string;
  error: string;
  background: number; // bg as ABGR
  faint: number; // bg-3 as ABGR
  kinds: KindColours[]; // in the order of tiles, then idle
  slots: SlotColours[]; // as model/colouring numbers them
  font: string;
}

/* #rrggbb as a little-endian pixel: 0xffbbggrr. */
export function pixelOf(css: string): number {
  const value = parseInt(css.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/* share of `over`, the rest of `under`. */
export function mix(under: number, over: number, share: number): number {
  const part = (shift: number) => {
    const low = (under >>> shift) & 0xff;
    return Math.round(low + (((over >>> shift) & 0xff) - low) * share) << shift;
  };
  return (0xff000000 | part(0) | part(8) | part(16)) >>> 0;
}

/* Style sheets shorten colours; a canvas spells every one out as #rrggbb. */
const speller = new OffscreenCanvas(1, 1).getContext('2d')!;

function spelled(css: string): string {
  speller.fillStyle = css;
  return speller.fillStyle;
}

/* Black reads better on it than white. */
function isPale(css: string): boolean {
  const linear = (shift: number): number => (((parseInt(css.slice(1), 16) >> shift) & 0xff) / 255) ** 2.2;
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0) > 0.18;
}

const known = new Map<string, Tokens>();
matchMedia('(prefers-contrast: more)').addEventListener('change', () => known.clear());

export function readTokens(): Tokens {
  const theme = document.documentElement.dataset.theme ?? '';
  const tokens = known.get(theme) ?? read();
  known.set(theme, tokens);
  return tokens;
}

function read(): Tokens {
  const style = getComputedStyle(document.documentElement);
  const raw = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const get = (name: string): string => spelled(raw(name));
  const kindOf = (kind: string): KindColours => {
    const css: [string, string, string] =
      kind === 'idle' ? [get(kind), get(kind), get(kind)] : [get(`${kind}-1`), get(kind), get(`${kind}-3`)];
    const stroke = get(`${kind}-stroke`);
    return {
      css,
      fills: css.map(pixelOf) as [number, number, number],
      label: get(`${kind}-label`),
      stroke: pixelOf(stroke),
      strokeCss: stroke,
    };
  };
  const kinds = KINDS.map(kindOf);
  const [faint, ink, edge] = [get('bg-3'), get('ink'), pixelOf(get('edge'))];
  const slots: SlotColours[] = kinds.flatMap((kind) =>
    kind.css.map((css, shade) => ({ fill: kind.fills[shade]!, css, label: kind.label, stroke: kind.stroke })),
  );
  while (slots.length < NAME_SLOT) slots.push({ fill: pixelOf(faint), css: faint, label: ink, stroke: edge });
  for (let slot = NAME_SLOT; slot < FAMILY_SLOT; slot++) {
    const css = get(slot < AMOUNT_SLOT ? `name-${slot - NAME_SLOT + 1}` : `amount-${slot - AMOUNT_SLOT + 1}`);
    const label = isPale(css) ? get('black') : get('white');
    slots.push({ fill: pixelOf(css), css, label, stroke: mix(pixelOf(css), pixelOf(label), 0.5) });
  }
  for (const family of FAMILIES) {
    const css = get(`compute-${family}`);
    slots.push({ fill: pixelOf(css), css, label: get(`compute-${family}-label`), stroke: kinds[0]!.stroke });
  }
  if (slots.length !== SLOTS) throw new Error(`${slots.length} colours for ${SLOTS} slots`);
  return {
    slots,
    bg: get('bg'),
    bg2: get('bg-2'),
    bg3: get('bg-3'),
    line: get('line'),
    edge: get('edge'),
    ink: get('ink'),
    ink2: get('ink-2'),
    ink3: get('ink-3'),
    accent: get('accent'),
    select: get('select'),
    error: get('error'),
    background: pixelOf(get('bg')),
    faint: pixelOf(get('bg-3')),
    kinds,
    font: raw('ui'),
  };
}
