/* SPDX-License-Identifier: Apache-2.0 */
import type { Run } from '../../../web/src/data/types';
import { numberOf, seriesAmong, stemOf } from '../../../web/src/model/series';

const run = (name: string, step_median_ps: number | bigint | null) => ({ name, step_median_ps }) as Run;

test('the last number of a name counts', () => {
  expect([stemOf('a/step_1000'), numberOf('a/step_1000')]).toEqual(['a/step_*', 1000]);
  expect([stemOf('v2-step9.pb'), numberOf('v2-step9.pb')]).toEqual(['v2-step*.pb', 9]);
  expect([stemOf('warm'), numberOf('warm')]).toEqual([null, null]);
});
test('series by length, each by its number; what has no step time stands aside', () => {
  const series = seriesAmong([run('s_10', 5), run('s_9', 4n), run('s_11', null), run('t_1', 1), run('warm', 3)]);
  expect(series.map((one) => `${one.stem}:${one.runs.map((of) => `${of.number}=${of.step_ps}`)}`)).toEqual([
    's_*:9=4,10=5',
    't_*:1=1',
  ]);
});
