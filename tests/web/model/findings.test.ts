/* SPDX-License-Identifier: Apache-2.0 */
import type { Evidence } from '../../../web/src/data/findings';
import { linkOf } from '../../../web/src/model/evidence';
import { piecesOf, spoken } from '../../../web/src/model/spoken';

const plain = (text: string) => text.replaceAll('\u202f', '_');

describe('words of the server', () => {
  const strongs = (text: string) =>
    piecesOf(text)
      .filter((piece) => piece.as === 'strong')
      .map((piece) => plain(piece.text));
  const codes = (text: string) =>
    piecesOf(text)
      .filter((piece) => piece.as === 'code')
      .map((piece) => piece.text);

  test('numbers with a unit stand out, and wear thin spaces', () => {
    const rows: [string, string[]][] = [
      ['A step takes 54.1 ms (± 800 µs; 11 steps).', ['54.1_ms', '± 800_µs']],
      ['61 % is compute, <0.1 % is idle', ['61_%', '<0.1_%']],
      ['It lasts 2 min 14 s.', ['2_min 14_s']],
      ['12 of 412 ops account for 80 % of device time.', ['80_%']],
      ['dot.63 s', []],
      ['peak 1.61 GiB of 143 GiB', ['1.61_GiB', '143_GiB']],
      ['jit_f(36) ran', []],
    ];
    for (const [text, wanted] of rows) expect(strongs(text), text).toEqual(wanted);
    expect(strongs('Device 7 works 3.59 ms and device 0 456 µs, device 3 120 ms')).toEqual([
      '3.59_ms',
      '456_µs',
      '120_ms',
    ]);
    expect(
      plain(
        piecesOf('67 980 calls')
          .map((piece) => piece.text)
          .join(''),
      ),
    ).toBe('67_980 calls');
  });
  test('nothing is lost', () => {
    for (const text of ['', 'no number', '54.1 ms', '`code` and 3 %', 'an open ` tick 4 ms', '``'])
      expect(
        plain(
          piecesOf(text)
            .map((piece) => piece.text)
            .join(''),
        ).replaceAll('_', ' '),
      ).toBe(text.replaceAll('`code`', 'code').replaceAll('``', '').replaceAll(' ` ', '  '));
  });
  test('code stands between backticks', () => {
    expect(codes('Set `A=1` or `B`.')).toEqual(['A=1', 'B']);
    expect(codes('one ` alone')).toEqual([]);
  });
  test('as a sentence', () => {
    expect(spoken('takes 1 ms.')).toEqual(['takes ', { strong: '1\u202fms' }, '.']);
  });
});

describe('the way to the evidence', () => {
  const evidence = (changes: Partial<Evidence>): Evidence => ({
    name: 'longest gap',
    value: 1,
    reason: null,
    unit: 'ps',
    run: 'r1',
    host: null,
    step: null,
    track: null,
    slice: null,
    start_ps: null,
    end_ps: null,
    view: null,
    by: null,
    find: null,
    module: null,
    ...changes,
  });
  test('nowhere in particular', () => {
    expect(linkOf(evidence({}))).toBeNull();
    expect(linkOf(evidence({ view: 'no-such-view' }))).toBeNull();
  });
  test('a window of the timeline, with a tenth around it', () => {
    expect(linkOf(evidence({ start_ps: 1000, end_ps: 2000, slice: 'a-1', host: 'hostA' }))).toEqual({
      view: 'timeline',
      slice: 'a-1',
      window: '899-2101',
      start_ps: '1000',
      end_ps: '2000',
    });
  });
  test('a step, where no window is known', () => {
    expect(linkOf(evidence({ step: 7 }))).toEqual({ view: 'timeline', step: '7' });
  });
  test('a row of a page', () => {
    expect(linkOf(evidence({ view: 'ops', by: 'name', find: 'f', host: 'hostA', module: 'jit_f' }))).toEqual({
      view: 'ops',
      by: 'name',
      name: 'f',
      host: 'hostA',
      module: 'jit_f',
    });
  });
});
