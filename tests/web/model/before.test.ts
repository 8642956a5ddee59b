/* SPDX-License-Identifier: Apache-2.0 */
/* What lies before the first counted step, and how much of it is autotuning? */
import type { StepRow } from '../../../web/src/data/types';
import { beforeParts, beforeSteps, type CompileRow } from '../../../web/src/model/compiles';

const step = (start: number, dur: number, more: Partial<StepRow> = {}): StepRow =>
  ({ step: start, start_ps: start, dur_ps: dur, warmup: false, cut: false, ...more }) as StepRow;
const compile = (total: number, autotune: number | null): CompileRow =>
  ({ total_ps: total, autotune_ps: autotune }) as CompileRow;
const told = (steps: StepRow[], earlier: CompileRow[], inside: CompileRow[] = []) => {
  const before = beforeSteps(steps);
  const found = before && beforeParts(before, earlier, inside);
  return (
    found && {
      all: found.allPs,
      parts: found.parts.map(({ words, ps }) => `${words} ${ps}`),
      inside: found.tunedInsidePs,
    }
  );
};

test.each([
  [
    'autotuning stands apart from compilation and from warm-up',
    [step(120, 10), step(100, 20, { warmup: true })],
    [compile(50, 30), compile(10, null)],
    [],
    { all: 120, parts: ['autotuning 30', 'compilation 30', '1 warm-up step 20', 'none recorded 40'], inside: 0 },
  ],
  [
    'where nothing tells what compilers did, autotuning may be in it',
    [step(100, 10)],
    [compile(40, null)],
    [],
    { all: 100, parts: ['compilation, autotuning 40', 'none recorded 60'], inside: 0 },
  ],
  [
    'a step that the recording cuts is none that counts',
    [step(10, 10, { cut: true }), step(20, 10)],
    [compile(4, 0)],
    [],
    { all: 20, parts: ['compilation 4', '1 cut step 10', 'none recorded 6'], inside: 0 },
  ],
  ['autotuning in counted steps', [step(0, 10)], [], [compile(8, 5)], { all: 0, parts: [], inside: 5 }],
  [
    'compiles side by side take more than there is: no rest',
    [step(10, 5)],
    [compile(9, 0), compile(9, 4)],
    [],
    {
      all: 10,
      parts: ['autotuning 4', 'compilation 14'],
      inside: 0,
    },
  ],
  ['nothing was compiled', [step(10, 5)], [], [], null],
  ['no step counts', [step(10, 5, { warmup: true })], [compile(4, 1)], [], null],
  ['steps over each other', [step(0, 15, { warmup: true }), step(10, 5)], [compile(4, 1)], [], null],
])('%s', (_what, steps, earlier, inside, want) => {
  expect(told(steps, earlier, inside)).toEqual(want);
});
