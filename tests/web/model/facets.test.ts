/* SPDX-License-Identifier: Apache-2.0 */
import type { Run } from '../../../web/src/data/types';
import { facetsOf, hasToken, toggleToken } from '../../../web/src/model/facets';

const run = (changes: Partial<Run>) =>
  ({
    name: 'a',
    hosts: ['h'],
    device_kind: null,
    formats: ['xplane'],
    framework: null,
    state: 'ready',
    badges: [],
    ...changes,
  }) as Run;

test('only what parts the runs, most frequent first', () => {
  const facets = facetsOf([
    run({ device_kind: 'TPU v6 Lite' }),
    run({ device_kind: 'TPU v6 Lite' }),
    run({ device_kind: 'T4', state: 'failed' }),
  ]);
  expect(facets.map((facet) => facet.name)).toEqual(['device', 'state']);
  expect(facets[0]!.values).toEqual([
    { value: 'TPU v6 Lite', count: 2, token: 'device:"TPU v6 Lite"' },
    { value: 'T4', count: 1, token: 'device:T4' },
  ]);
});
test('a word is added and taken away, quotation marks hold it together', () => {
  expect(toggleToken('step_1', 'device:"TPU v6 Lite"')).toBe('step_1 device:"TPU v6 Lite"');
  expect(toggleToken('step_1 device:"TPU v6 Lite" x', 'device:"TPU v6 Lite"')).toBe('step_1 x');
  expect(hasToken('state:ready', 'state:ready')).toBe(true);
  expect(hasToken('state:ready2', 'state:ready')).toBe(false);
});

test('names that differ by a number, and their numbers, part runs, too', () => {
  const facets = facetsOf([
    ...Array.from({ length: 12 }, (_, at) => run({ name: `step_${at * 100}` })),
    run({ name: 'warm' }),
  ]);
  expect(facets.map((facet) => facet.name)).toEqual(['name', 'step']);
  expect(facets[0]!.values).toEqual([{ value: 'step_*', count: 12, token: 'name~step_*' }]);
  expect(facets[1]!.values.map((one) => one.token)).toEqual([
    'step=0..200',
    'step=300..500',
    'step=600..800',
    'step=900..1100',
  ]);
  expect(facets[1]!.values.at(-1)!.value).toBe('900 to 1100'); // as they are called
  expect(facets[1]!.values.every((one) => one.count === 3)).toBe(true);
  expect(
    facetsOf([run({ name: 'a1' }), run({ name: 'a2' })]).map((facet) => facet.values.map((one) => one.token)),
  ).toEqual([['step=1', 'step=2']]);
  const unlike = facetsOf(
    ['gpu-mi300x', 'tpu-4', 'fit/20231107-181856/train', 'fit/20231107-184122/train'].map((name) => run({ name })),
  );
  expect(unlike.map((facet) => facet.name)).toEqual(['name']); // a model's number and a time of day are no steps
});
