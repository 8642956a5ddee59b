/* SPDX-License-Identifier: Apache-2.0 */
import type { FlameNode, StepRow, TopList, Run } from '../../../web/src/data/types';
import { cutMiddle, shortScope, shortSource, shown } from '../../../web/src/model/cut';
import { actionOf, KEYS, spell } from '../../../web/src/model/keys';
import { flameSentence, measuredOn, opsSentence, plainText, runsSentence } from '../../../web/src/model/sentence';
import { stepsSentence } from '../../../web/src/model/steps_words';
import { inWindow, stepFor, ticksIn } from '../../../web/src/model/ticks';
import { viewportOf } from '../../../web/src/model/viewport';

const plain = (text: string) => text.replaceAll('\u202f', ' ');

describe('the sentence', () => {
  test('what was measured: devices that ran nothing are told apart, a kind may stand in another file', () => {
    const rows: [number, string | null, number, string, string][] = [
      [8, null, 2, '2 devices', '2 of 8 devices'],
      [8, null, 1, '1 device', '1 of 8 devices'],
      [1, null, 1, '1 device', '1 device'],
      [1, 'A100', 1, '1 device', '1 × A100'],
      [8, 'TPU v6', 4, '4 × TPU v6', '4 of 8 × TPU v6'],
      [8, null, 8, '8 XLA:CPU devices on host threads', '8 XLA:CPU devices on host threads'],
      [0, null, 0, '1 host without devices', '1 host without devices'],
    ];
    for (const [device_count, device_kind, measured, basis, words] of rows)
      expect(plain(measuredOn({ device_count, device_kind }, measured, basis))).toBe(words);
  });
  test('of ops', () => {
    const rows = Array.from({ length: 12 }, () => ({ self_ps: 50e9 })) as TopList['rows'];
    const top = { rows, row_count: 412, total_self_ps: 712e9, of: 'device' } as TopList;
    expect(plain(plainText(opsSentence(top, 'op')))).toBe('412 ops take 712 ms on devices; ten of them take 70 %.');
    expect(plain(plainText(opsSentence({ ...top, row_count: 2, rows: rows.slice(0, 2) }, 'category')))).toBe(
      '2 categories take 712 ms on devices.',
    );
  });
  test('of steps: the slow one and what was longer in it', () => {
    const step = (number: number, compute: number, communication: number): StepRow => ({
      step: number,
      host: 'h',
      start_ps: 0,
      dur_ps: compute + communication,
      warmup: false,
      outlier: false,
      breakdown: [
        { kind: 'compute', self_ps: compute },
        { kind: 'communication', self_ps: communication },
      ],
    });
    const steps = [step(1, 50e9, 4e9), step(2, 50e9, 4e9), step(3, 50e9, 28e9)];
    expect(plain(plainText(stepsSentence(steps, 54e9)))).toBe(
      '3 steps, median 54.0 ms; step 3 took 78.0 ms: communication was 24.0 ms longer than its median.',
    );
  });
  test('of a flame graph: down while more than half goes one way', () => {
    const node = (name: string, total: number, children: FlameNode[] = []): FlameNode => ({
      name,
      total_ps: total,
      self_ps: 0,
      count: 1,
      children,
    });
    const mlp = node('mlp', 60, [node('dot.63', 40), node('tanh', 20)]);
    expect(
      plain(
        plainText(flameSentence(node('run', 100, [node('layer_1', 70, [mlp, node('attn', 10)]), node('loss', 30)]))),
      ),
    ).toBe('layer_1/mlp takes 60 % of device time, most of it in dot.63.');
    expect(
      plain(plainText(flameSentence(node('run', 100, [node('a', 40), node('b', 30), node('c', 30)]), 'host'))),
    ).toBe('The largest part, a, takes 40 % of host time.');
    const own = { ...node('compile', 60, [node('a', 1)]), self_ps: 59 };
    expect(
      plain(plainText(flameSentence(node('run', 100, [node('x', 40, [node('y', 30)]), node('z', 40, [own])]), 'host'))),
    ).toBe('The largest part, compile, takes 59 % of host time.');
    expect(flameSentence(node('run', 0))).toEqual([]);
  });
  test('of runs', () => {
    const run = (name: string, step: number | null) => ({ name, step_median_ps: step }) as Run;
    expect(
      plain(plainText(runsSentence([run('c', null), run('s_2', 1.14e12), run('other', 1e9), run('s_1', 91.2e9)], 3))),
    ).toBe('3 runs. The newest with steps, s_2, takes 1.14 s a step (median); s_1 took 91.2 ms.');
  });
});

describe('names', () => {
  test.each([
    [null, '(no name)'],
    ['', '(no name)'],
    [' ', '(blank)'],
    ['\u00a0 ', '(blank)'],
    ['a\u0000b\u2028', 'a\ufffdb\ufffd'],
    ['x'.repeat(600), `${'x'.repeat(256)}…${'x'.repeat(255)}`],
    [`${'x'.repeat(2000)}.7`, `${'x'.repeat(256)}…${'x'.repeat(253)}.7`],
  ])('shown %#', (name, text) => {
    expect(shown(name)).toBe(text);
  });
  test('cut in the middle keeps both ends', () => {
    expect(cutMiddle('multiply_bitcast_fusion.4', 12)).toBe('multip…ion.4');
    expect(cutMiddle('short', 12)).toBe('short');
    expect([0, 1, 2].map((length) => cutMiddle('abcdef', length))).toEqual(['', '…', 'a…']);
  });
  test('scopes lose their front, sources their folders', () => {
    expect(shortScope('jit(train_step)/jit(main)/layer_1/mlp')).toBe('layer_1/mlp');
    expect(shortScope('jit(train_step)')).toBe('jit(train_step)');
    expect(shortSource('/home/x/model.py:41')).toBe('model.py:41');
  });
});

describe('keys', () => {
  const press = (
    key: string,
    modifiers: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {},
  ) => spell({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });
  test.each([
    ['w', 'zoom-in'],
    ['?', 'help'],
    ['/', 'search'],
    ['Escape', 'escape'],
    ['ArrowLeft', 'slice-before'],
    ['0', 'zoom-all'],
  ])('%s', (key, action) => {
    expect(actionOf(press(key, key === '?' ? { shiftKey: true } : {}), '')).toBe(action);
  });
  test('shift and ctrl make others of them', () => {
    expect(actionOf(press('A', { shiftKey: true }), '')).toBe('pan-left-half');
    expect(actionOf(press('k', { ctrlKey: true }), '')).toBe('palette');
    expect(actionOf(press('s', { ctrlKey: true }), '')).toBeNull();
  });
  test('G and a letter goes, the letter alone acts', () => {
    expect(actionOf('s', 'g')).toBe('go-steps');
    expect(actionOf('s', '')).toBe('zoom-out');
    expect(actionOf('a', 'g')).toBe('pan-left');
  });
  test('no key means two things', () => {
    const all = KEYS.flatMap((entry) => entry.match);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('the ruler', () => {
  test.each([
    [1e9, 10, 1e8],
    [3e9, 10, 5e8],
    [1.1e9, 10, 2e8],
    [7, 10, 1],
  ])('steps of 1, 2, 5: %d in %d', (span, ticks, step) => {
    expect(stepFor(span, ticks)).toBe(step);
  });
  const words = (start: bigint, end: bigint, width: number) =>
    ticksIn(viewportOf(start, end), width).map((tick) => plain(tick.text));
  test('times of the run, each with its unit', () => {
    expect(words(310_000_000_000n, 335_000_000_000n, 550)).toEqual([
      '310 ms',
      '315 ms',
      '320 ms',
      '325 ms',
      '330 ms',
      '335 ms',
    ]);
    expect(words(66_850_000_000n, 67_050_000_000n, 330)).toEqual(['66.9 ms', '67.0 ms']);
  });
  test('before zero as well', () => {
    expect(words(-7_000_000_000n, 366_000_000_000n, 880)).toEqual([
      '0 ms',
      '50 ms',
      '100 ms',
      '150 ms',
      '200 ms',
      '250 ms',
      '300 ms',
      '350 ms',
    ]);
    expect(words(-20_000_000_000n, 0n, 440)[0]).toBe('−20 ms');
  });
  test('a nanosecond, two hours in, each tick apart from the next', () => {
    const start = 7_200_000_000_000_000n;
    const told = words(start + 100n, start + 1100n, 900);
    expect(told[0]).toBe('7 200.000 000 000 2 s');
    expect(new Set(told).size).toBe(told.length);
  });
  test('a window of 16 ms reads as such, wherever it lies', () => {
    const at = 1_201_000_000_000n;
    const ends = inWindow(viewportOf(at, at + 16_000_000_000n), 1000);
    expect([at, at + 16_000_000_000n].map((one) => plain(ends(one)))).toEqual(['1 201.0 ms', '1 217.0 ms']);
    const late = 45_000_000_000_000n;
    const seconds = inWindow(viewportOf(late, late + 16_000_000_000n), 1000);
    expect([late, late + 16_000_000_000n].map((one) => plain(seconds(one)))).toEqual(['45.0000 s', '45.0160 s']);
  });
});
