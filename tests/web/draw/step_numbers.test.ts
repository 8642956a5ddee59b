/* SPDX-License-Identifier: Apache-2.0 */
/* Where numbers of steps and names of lanes stand, and what of a grid is where. */
import type { HostStep, StepRow } from '../../../web/src/data/types';
import { gridAt, gridLayout, paintGrid, wholeSteps } from '../../../web/src/draw/host_grid';
import { barsLayout, hostEndings, paintBars } from '../../../web/src/draw/step_bars';
import type { Tokens } from '../../../web/src/draw/tokens';

/* Words that are painted, as ten pixels a letter, and where. */
const wordsOf = (paint: (canvas: HTMLCanvasElement) => void): string[] => placesOf(paint).map(({ text }) => text);

function placesOf(paint: (canvas: HTMLCanvasElement) => void): { text: string; x: number }[] {
  const words: { text: string; x: number }[] = [];
  const context = new Proxy(
    {
      measureText: (text: string) => ({ width: 10 * text.length }),
      fillText: (text: string, x: number) => void words.push({ text, x }),
    } as Record<string, unknown>,
    {
      get: (known, key) => known[String(key)] ?? (() => undefined),
      set: () => true,
    },
  );
  paint({ getContext: () => context } as unknown as HTMLCanvasElement);
  return words;
}

test.each([
  ['each where there is room', 12, 1000, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']],
  ['evenly where there is none', 100, 2064, ['0', '2', '4', '6', '8', '10', '12', '14', '16', '18']],
  ['by fives', 100, 664, ['0', '5', '10', '15', '20', '25', '30']],
])('numbers of steps stand %s', (_what, count, width, first) => {
  const steps = Array.from(
    { length: count },
    (_, step) =>
      ({ step, host: 'h', start_ps: 0, dur_ps: 10, warmup: false, outlier: false, breakdown: [] }) as StepRow,
  );
  const tokens = { kinds: [] } as unknown as Tokens;
  const words = wordsOf((canvas) =>
    paintBars(canvas, {
      steps,
      medianPs: null,
      layout: barsLayout(steps, width, 100),
      width,
      height: 100,
      ratio: 1,
      hover: null,
      focus: null,
      tokens,
    }),
  );
  expect(words.slice(1, 1 + first.length)).toEqual(first); // behind the axis' 0
});

test.each([
  [2, 20, 18 + 40],
  [16, 20, 18 + 320],
  [64, 5, 18 + 320],
  [256, 1, 18 + 256],
])('%i lanes are %i pixels high each', (lanes, row, height) => {
  const layout = gridLayout(lanes, 6, 1000);
  expect(layout).toMatchObject({ row, height });
  expect(gridAt(layout, lanes, 6, layout.left, height - 0.5)).toEqual({ lane: lanes - 1, step: 0 });
  expect(gridAt(layout, lanes, 6, layout.left, height + 1)).toBeNull();
});

test('of more cells than an answer has, whole steps', () => {
  const rows = [0, 0, 1, 1, 2].map((step) => ({ step }) as HostStep);
  expect(wholeSteps({ rows, row_count: 6 }).map((row) => row.step)).toEqual([0, 0, 1, 1]);
  expect(wholeSteps({ rows: rows.slice(0, 4), row_count: 4 })).toHaveLength(4);
});

test('a grid numbers its steps evenly, none beyond its edge', () => {
  const steps = Array.from({ length: 118 }, (_, step) => step);
  const tokens = { font: '' } as Tokens;
  const words = wordsOf((canvas) =>
    paintGrid(canvas, {
      lanes: ['h'],
      steps,
      cells: new Map(),
      late: () => 0,
      chosen: null,
      latest: 0,
      width: 1248,
      ratio: 1,
      tokens,
    }),
  );
  expect(words.slice(0, 4)).toEqual(['0', '5', '10', '15']);
  expect(words.at(-2)).toBe('115');
});

test('a step of several hosts bears what tells them apart', () => {
  const of = (...hosts: string[]) => [...hostEndings(hosts.map((host) => ({ host }) as StepRow)).values()];
  expect(of('hostA', 'hostB', 'hostA')).toEqual(['A', 'B']);
  expect(of('node-1', 'node-12')).toEqual(['1', '12']);
  expect(of('a', 'b')).toEqual(['a', 'b']);
  expect(of('alone', 'alone')).toEqual([]);
});

test('the number of the last bar, torn, is whole', () => {
  const steps = [10, 10, 10, 10, 10, 10, 10, 10, 10, 900].map(
    (dur, step) => ({ step, host: 'h', dur_ps: dur * 1e9, outlier: dur > 10, breakdown: [] }) as unknown as StepRow,
  );
  const width = 64 + 10 * 20;
  const words = placesOf((canvas) =>
    paintBars(canvas, {
      steps,
      medianPs: null,
      layout: barsLayout(steps, width, 100),
      width,
      height: 100,
      ratio: 1,
      hover: null,
      focus: null,
      tokens: { kinds: [] } as unknown as Tokens,
    }),
  );
  const { text, x } = words.find((one) => /ms/.test(one.text))!;
  expect(x + (10 * text.length) / 2).toBeLessThanOrEqual(width);
});

test('of torn bars side by side the tallest bears its number', () => {
  const steps = [10, 10, 10, 10, 10, 10, 300, 900, 400, 10, 10, 10].map(
    (dur, step) =>
      ({
        step,
        host: 'h',
        start_ps: 0,
        dur_ps: dur * 1e9,
        warmup: false,
        outlier: dur > 10,
        breakdown: [],
      }) as unknown as StepRow,
  );
  const words = wordsOf((canvas) =>
    paintBars(canvas, {
      steps,
      medianPs: null,
      layout: barsLayout(steps, 400, 100),
      width: 400,
      height: 100,
      ratio: 1,
      hover: null,
      focus: null,
      tokens: { kinds: [] } as unknown as Tokens,
    }),
  );
  const torn = words.filter((word) => /ms/.test(word));
  expect(torn).toHaveLength(1);
  expect(torn[0]).toContain('900');
});
