/* SPDX-License-Identifier: Apache-2.0 */
/* Where lies what the counted steps leave out? */
import type { StepRow } from '../../../web/src/data/types';
import type { CompileRow } from '../../../web/src/model/compiles';
import { outsideParts, tuningPart } from '../../../web/src/model/steps_words';

const step = (start: number, dur: number, more: Partial<StepRow> = {}): StepRow =>
  ({ step: start, start_ps: start, dur_ps: dur, warmup: false, ...more }) as StepRow;
const told = (...steps: StepRow[]) =>
  outsideParts(steps, 100n)?.map(({ words, start, end }) => `${start ?? ''}-${end ?? ''} ${words}`) ?? null;

test.each([
  ['steps alone', [step(10, 5), step(20, 5)], ['-10 before the first step', '25- after the last step']],
  [
    'warm-up at the beginning, in one window, and what the recording cuts',
    [step(30, 5), step(10, 5, { warmup: true }), step(16, 5, { warmup: true }), step(40, 3, { cut: true })],
    [
      '-10 before the first step',
      '10-21 in 2 warm-up steps',
      '40-43 in 1 step that the recording cuts',
      '43- after the last step',
    ],
  ],
  [
    'warm-up in the middle',
    [step(10, 5), step(20, 5, { warmup: true }), step(30, 5)],
    ['-10 before the first step', '20-25 in 1 warm-up step', '35- after the last step'],
  ],
  ['steps from the beginning to the end', [step(0, 40), step(50, 50)], []],
  ['nothing that counts', [step(10, 5, { warmup: true })], null],
  ['no steps', [], null],
  ['steps over each other', [step(10, 15), step(20, 5)], null],
  [
    'more windows than one asks for',
    Array.from({ length: 12 }, (_, at) => step(10 * at, 5, { warmup: at % 2 === 0 })),
    null,
  ],
])('%s', (_what, steps, want) => {
  expect(told(...steps)).toEqual(want);
});

const compile = (name: string | null, start: number, total: number, tuned: number | null) =>
  ({ function: name, start_ps: start, total_ps: total, autotune_ps: tuned }) as CompileRow;

test.each([
  [
    'the one that tuned most',
    [compile('a', 0, 9, 1), compile('b', 10, 20, 7), compile('c', 40, 9, 2)],
    '10-30 while b was compiled and tuned',
  ],
  ['none that ends behind the first step', [compile('a', 10, 90, 7)], null],
  ['none that did not tune, or of which that is not known', [compile('a', 10, 9, 0), compile('b', 20, 9, null)], null],
  ['one without a name', [compile(null, 10, 9, 1)], '10-19 while a function was compiled and tuned'],
  ['no compilations', [], null],
])('before the first step: %s', (_what, rows, want) => {
  const found = tuningPart(rows, 50n);
  expect(found ? `${found.start}-${found.end} ${found.words}` : null).toBe(want);
});
