/* SPDX-License-Identifier: Apache-2.0 */
import { readFileSync } from 'node:fs';

/* The palette's rules, recomputed from the style sheet: contrast by WCAG 2, distance of kinds by
 * CIEDE2000, also as a reader with each colour deficiency sees them (Machado 2009, severity 1). */

type Triple = [number, number, number];

const css = readFileSync(new URL('../../../web/src/style/tokens.css', import.meta.url), 'utf8');
const KINDS = ['compute', 'communication', 'copy', 'host', 'input', 'compile', 'other', 'idle'];
const WORK = KINDS.slice(0, 7);
const FAMILIES = ['product', 'attention', 'convolution', 'normalisation', 'elementwise', 'moving'].map(
  (one) => `compute-${one}`,
);

function tokensOf(selector: string): Map<string, string> {
  const begin = css.indexOf(`${selector} {`);
  const block = css.slice(begin, css.indexOf('}', begin));
  return new Map([...block.matchAll(/--([\w-]+): ([^;]+);/g)].map((match) => [match[1]!, match[2]!]));
}

const light = tokensOf(':root');
const themes = { light, dark: new Map([...light, ...tokensOf("[data-theme='dark']")]) };

function colour(theme: Map<string, string>, name: string): Triple {
  const value = theme.get(name);
  if (value === undefined) throw new Error(`no token --${name}`);
  const other = /^var\(--(.+)\)$/.exec(value);
  if (other) return colour(theme, other[1]!);
  return [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16) / 255) as Triple;
}

const toLinear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const toGamma = (c: number) => (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055);
const times = (rows: Triple[], v: Triple) => rows.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Triple;
const luminance = (c: Triple) => times([[0.2126, 0.7152, 0.0722]], c.map(toLinear) as Triple)[0];

function contrast(a: Triple, b: Triple): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const SEEN: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function seen(c: Triple, rows: Triple[]): Triple {
  return times(rows, c.map(toLinear) as Triple).map((x) => toGamma(Math.min(1, Math.max(0, x)))) as Triple;
}

function lab(c: Triple): Triple {
  const xyz = times(
    [
      [0.4124564, 0.3575761, 0.1804375],
      [0.2126729, 0.7151522, 0.072175],
      [0.0193339, 0.119192, 0.9503041],
    ],
    c.map(toLinear) as Triple,
  );
  const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883].map((t) =>
    t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116,
  ) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const degrees = (radians: number) => (radians * 180) / Math.PI;
const radians = (angle: number) => (angle * Math.PI) / 180;

function ciede2000(first: Triple, second: Triple): number {
  const [l1, a1, b1] = lab(first);
  const [l2, a2, b2] = lab(second);
  const cMean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(cMean ** 7 / (cMean ** 7 + 25 ** 7)));
  const c1 = Math.hypot((1 + g) * a1, b1);
  const c2 = Math.hypot((1 + g) * a2, b2);
  const h1 = (degrees(Math.atan2(b1, (1 + g) * a1)) + 360) % 360;
  const h2 = (degrees(Math.atan2(b2, (1 + g) * a2)) + 360) % 360;
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2));
  const lm = (l1 + l2) / 2;
  const cm = (c1 + c2) / 2;
  const hm =
    c1 * c2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
  const t =
    1 -
    0.17 * Math.cos(radians(hm - 30)) +
    0.24 * Math.cos(radians(2 * hm)) +
    0.32 * Math.cos(radians(3 * hm + 6)) -
    0.2 * Math.cos(radians(4 * hm - 63));
  const rc = 2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7));
  const sl = 1 + (0.015 * (lm - 50) ** 2) / Math.sqrt(20 + (lm - 50) ** 2);
  const sc = 1 + 0.045 * cm;
  const sh = 1 + 0.015 * cm * t;
  const rt = -Math.sin(radians(60 * Math.exp(-(((hm - 275) / 25) ** 2)))) * rc;
  const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / sc, dh / sh];
  return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

const fills = (kind: string) => (kind === 'idle' ? ['idle'] : [`${kind}-1`, kind, `${kind}-3`]);

describe.each(Object.entries(themes))('%s theme', (_name, theme) => {
  const of = (name: string) => colour(theme, name);

  test('text is read on every ground', () => {
    const inks = ['ink', 'ink-2', 'ink-3', 'accent', 'error', 'warn', 'ok', 'slower', 'faster'];
    for (const ink of inks)
      for (const ground of ['bg', 'bg-2', 'bg-3', 'select'])
        expect(contrast(of(ink), of(ground)), `${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  test('a label is read on every fill of its kind', () => {
    for (const kind of KINDS)
      for (const fill of fills(kind)) expect(contrast(of(fill), of(`${kind}-label`)), fill).toBeGreaterThanOrEqual(4.5);
  });

  test('strokes and edges stand out', () => {
    for (const ground of ['bg', 'bg-2', 'bg-3']) {
      for (const kind of WORK)
        expect(contrast(of(`${kind}-stroke`), of(ground)), `${kind} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      expect(contrast(of('edge'), of(ground)), `edge on ${ground}`).toBeGreaterThanOrEqual(3);
    }
  });

  test.each(Object.entries(SEEN))('two kinds are told apart: %s', (sight, rows) => {
    const least = sight === 'normal' ? 16.8 : 11.5;
    for (const [index, one] of KINDS.entries())
      for (const two of KINDS.slice(index + 1))
        for (const a of fills(one))
          for (const b of fills(two))
            expect(ciede2000(seen(of(a), rows), seen(of(b), rows)), `${a} and ${b}`).toBeGreaterThanOrEqual(least);
  });

  test('a label is read on every family of compute', () => {
    for (const one of FAMILIES) expect(contrast(of(one), of(`${one}-label`)), one).toBeGreaterThanOrEqual(4.5);
  });

  test.each(Object.entries(SEEN))('families of compute are told from each other and from kinds: %s', (sight, rows) => {
    const least = sight === 'normal' ? 9 : 6.5;
    for (const [index, one] of FAMILIES.entries())
      for (const two of [...FAMILIES.slice(index + 1), ...KINDS.filter((kind) => kind !== 'idle')])
        expect(ciede2000(seen(of(one), rows), seen(of(two), rows)), `${one} and ${two}`).toBeGreaterThanOrEqual(least);
  });
});

test('no colour stands outside the tokens', async () => {
  const { readdirSync } = await import('node:fs');
  const folder = new URL('../../../web/src/', import.meta.url);
  const colours = /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/i;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(css|tsx?)$/.test(path) || path === 'style/tokens.css') continue;
    const text = readFileSync(new URL(path, folder), 'utf8').replaceAll(/&#\w+;/g, '');
    expect(colours.exec(text)?.[0], path).toBeUndefined();
  }
});
