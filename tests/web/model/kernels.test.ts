/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence of the Kernels page. */
import { kernelsSentence, withOccupancy, type KernelList, type KernelRow } from '../../../web/src/model/kernels';
import { plainText } from '../../../web/src/model/sentence';

const plain = (list: KernelList): string => plainText(kernelsSentence(list)).replace(/\u202f/g, ' ');

const list = (more: Partial<KernelList>): KernelList => ({
  by: 'kernel',
  of: 'device',
  total_ps: 690e9,
  total_self_ps: 690e9,
  launch_count: 9000,
  kernel_count: 9000,
  occupancy_known_ps: 690e9,
  half_occupancy_ps: 214e9,
  tensor_core_known_ps: 0,
  tensor_core_ps: 0,
  graph_ps: 0,
  missing: null,
  row_count: 214,
  rows: [],
  notes: [],
  approx: [],
  ...more,
});

describe('kernels', () => {
  test('how many, how long, how full', () => {
    expect(plain(list({}))).toBe('214 kernels take 690 ms; 31 % of it below half occupancy.');
    expect(plain(list({ tensor_core_known_ps: 600e9, tensor_core_ps: 345e9 }))).toBe(
      '214 kernels take 690 ms; 31 % of it below half occupancy, 50 % on tensor cores.',
    );
  });
  test('what is mostly unknown is left out', () => {
    expect(plain(list({ occupancy_known_ps: 100e9 }))).toBe('214 kernels take 690 ms.');
    expect(plain(list({ row_count: 1, occupancy_known_ps: 0 }))).toBe('1 kernel takes 690 ms.');
    expect(plain(list({ row_count: 0 }))).toBe('');
  });
  test('kernels of ranges: time of a range inside another is not added twice', () => {
    expect(plain(list({ by: 'range-kernel', row_count: 12 }))).toBe('12 kernels of ranges; all kernels take 690 ms.');
    expect(plain(list({ by: 'range-kernel', row_count: 1 }))).toBe('1 kernel of a range; all kernels take 690 ms.');
  });
  test('annotations: what they launched, less what none did', () => {
    const rest = { name: '(no annotation)', device_self_ps: 172.5e9 } as unknown as KernelRow;
    expect(plain(list({ by: 'annotation', row_count: 4, rows: [rest] }))).toBe(
      '3 annotations launched 75 % of 690 ms of device time.',
    );
    expect(plain(list({ by: 'annotation', row_count: 2, total_ps: 0 }))).toBe(
      '2 annotations on the host; the profile holds no device work.',
    );
  });
});

describe('occupancy of several launch shapes', () => {
  const shape = (name: string, occupancy: number | null, total_ps: number) =>
    ({ name, occupancy, total_ps, variant_count: 1 }) as KernelRow;
  const kernel = { name: 'k', occupancy: null, total_ps: 40, variant_count: 2 } as KernelRow;
  test('is their mean by time, with the least and the most', () => {
    const [row] = withOccupancy([kernel], [shape('k', 0.25, 30), shape('k', 1, 10), shape('other', 1, 9)]);
    expect(row!.shapes).toEqual({ mean: 0.4375, least: 0.25, most: 1 });
    expect(row!.occupancy).toBeNull(); // which is what is copied
  });
  test('is unknown where one of them is, or not all are here', () => {
    expect(withOccupancy([kernel], [shape('k', 0.25, 30), shape('k', null, 10)])[0]!.shapes).toBeUndefined();
    expect(withOccupancy([kernel], [shape('k', 0.25, 30)])[0]!.shapes).toBeUndefined();
  });
});
