/* SPDX-License-Identifier: Apache-2.0 */
import {
  amountLevel,
  AMOUNT_SLOT,
  FAMILY_SLOT,
  colouringOf,
  HUES,
  NAME_SLOT,
  SLOTS,
  slotsOf,
} from '../../../web/src/model/colouring';
import { wallDate, wallTime } from '../../../web/src/model/clock';
import { FAMILIES, familyOf } from '../../../web/src/model/colouring';
import {
  bandsOnScreen,
  layoutOf,
  layoutY,
  METRICS,
  screenY,
  stuckHeight,
  treeOf,
  unlikeNamed,
} from '../../../web/src/model/layout';
import { densityBars, nameText } from '../../../web/src/model/search';
import { shiftsOf } from '../../../web/src/model/stack';
import { NameTable } from '../../../web/src/data/tiles';
import type { Track } from '../../../web/src/data/types';

function track(id: string, parent: string | null, name: string, depth_count: number): Track {
  return {
    id,
    parent,
    host: 'a',
    name,
    kind: parent === null ? 'process' : 'thread',
    role: 'host',
    device: null,
    derived: false,
    order: Number(id),
    depth_count,
    slice_count: depth_count,
    duration_sum_ps: 0,
    start_ps: 0,
    end_ps: 1,
  } as unknown as Track;
}

const roots = treeOf([
  track('0', null, 'host', 0),
  track('1', '0', 'python', 4),
  track('2', '0', 'worker a', 2),
  track('3', '0', 'worker b', 2),
]);
const arranged = (pinned: string[]) =>
  layoutOf(roots, () => true, METRICS.normal!, new Set(), { pinned, hidden: [], order: [] });

test('pinned bands stay, the others scroll below them', () => {
  const layout = arranged(['2']);
  const [pinned, host] = layout.bands;
  const stuck = stuckHeight(layout, 400);
  expect([pinned!.node.id, layout.pinned, stuck]).toEqual(['2', 40, 40]);
  expect([screenY(pinned!, 30, stuck), screenY(host!, 30, stuck)]).toEqual([0, 10]);
  expect([layoutY(10, 30, stuck), layoutY(50, 30, stuck)]).toEqual([10, 80]);
  expect(bandsOnScreen(layout, 24, 60, stuck).map((band) => band.node.id)).toEqual(['2', '1']);
});

test('pins that would take most of the room scroll like the others', () => {
  expect(stuckHeight(arranged(['1', '2']), 150)).toBe(0);
  expect(stuckHeight(arranged([]), 150)).toBe(0);
});

test('tracks are filtered by their names, those above and below stay', () => {
  expect([...unlikeNamed(roots, 'WORKER B')]).toEqual(['1', '2']);
  expect([...unlikeNamed(roots, 'host')]).toEqual([]);
  expect([...unlikeNamed(roots, ' ')]).toEqual([]);
  expect([...unlikeNamed(roots, 'gpu')].sort()).toEqual(['0', '1', '2', '3']);
});

test.each([
  ['fusion', 'fusion'],
  ['Train  Step', 'train step'],
  ['fusion dur>1ms', 'fusion'],
  ['track:gpu arg.k=v host:a scope:mlp source:model.py:88', ''],
  ['name:dot dur<=2us', 'dot'],
  ['"two  words" x', 'two  words x'],
  ['hlo_op="a b" x', 'x'],
  ['op:dot.62 module:jit_f is:"a b" x', 'x'],
  ['= x', '= x'],
  ['track: x', 'track: x'],
])('what a name holds of %s', (find, text) => expect(nameText(find)).toBe(text));

test('counts over time as bars', () => {
  expect(densityBars([0, 1, 0, 0])).toEqual([{ at: 0.25, share: 1 }]);
  const [few, many] = densityBars([1, 1000]);
  expect(many!.share).toBe(1);
  expect(few!.share).toBeGreaterThan(0.05);
});

test('colours: kinds as before, names by hash, self time by level', () => {
  const names = new NameTable();
  const dot = names.idOf('dot.1');
  const again = new NameTable();
  again.idOf('another');
  expect(slotsOf('name', names, new Map(), 8)(dot, 0)).toBe(
    slotsOf('name', again, new Map(), 8)(again.idOf('dot.1'), 3),
  );
  expect(slotsOf('kind', names, new Map(), 8)(dot, 2)).toBe(6 + names.shades[dot]!);
  expect(slotsOf('self', names, new Map([['dot.1', 4]]), 8)(dot, 2)).toBe(AMOUNT_SLOT + 4);
  expect(slotsOf('name', names, new Map(), 8)(dot, 8)).toBe(24 + names.shades[dot]!); // a container
  const hues = new Set(
    Array.from({ length: 100 }, (_, index) => slotsOf('name', names, new Map(), 8)(names.idOf(`op.${index}`), 0)),
  );
  expect(hues.size).toBe(HUES);
  expect([Math.min(...hues), SLOTS]).toEqual([NAME_SLOT, 46]);
  expect([0, 0.01, 0.05, 0.2, 0.5, 1].map(amountLevel)).toEqual([0, 1, 2, 3, 4, 4]);
  expect([colouringOf('self'), colouringOf('nonsense'), colouringOf(undefined)]).toEqual(['self', 'kind', 'kind']);
});

test('times of day, as fine as the step', () => {
  const noon = BigInt(new Date(2026, 10, 21, 12, 5, 9).getTime()) * 1_000_000_000n;
  expect(wallTime(noon, 1e13)).toBe('12:05:09');
  expect(wallTime(noon + 310_200_000_000n, 1e9)).toBe('12:05:09.310');
  expect(wallTime(noon + 7n, 1)).toBe('12:05:09.000000000007');
  expect(wallDate(noon)).toMatch(/^2026-11-21 12:05:09\.000000000 (UTC|[+−]\d\d:\d\d)$/);
});

test('hosts side by side from the start of a step', () => {
  const steps = [
    { step: 3, host: 'a', start_ps: 100 },
    { step: 3, host: 'b', start_ps: 160n },
    { step: 4, host: 'a', start_ps: 300 },
  ];
  expect([...shiftsOf(steps, '3')]).toEqual([
    ['a', 0n],
    ['b', 60n],
  ]);
  expect(shiftsOf(steps, '9').size).toBe(0);
  expect(shiftsOf(steps, undefined).size).toBe(0);
});

test.each([
  ['matrix product (by name)', 'product'],
  ['custom-call __cublas$gemm', 'product'],
  ['dot', 'product'],
  ['convolution (by name)', 'convolution'],
  ['convolution fusion', 'convolution'],
  ['attention (by name)', 'attention'],
  ['softmax (by name)', 'normalisation'],
  ['loop fusion', 'elementwise'],
  ['elementwise (by name)', 'elementwise'],
  ['data formatting', 'moving'],
  ['copy (by name)', 'moving'],
  ['custom fusion', undefined],
  [null, undefined],
])('the family of %s', (category, family) => {
  expect(FAMILIES[familyOf(category)]).toBe(family);
});

test('the hue of compute is that of its family, of what has none the kind tells', () => {
  const names = new NameTable();
  const [gemm, other] = ['gemm', 'other'].map((text) => names.idOf(text)) as [number, number];
  const slotOf = slotsOf('kind', names, new Map(), 8, new Map([['gemm', 0]]));
  expect([slotOf(gemm, 0), slotOf(other, 0) < NAME_SLOT, slotOf(gemm, 3) < NAME_SLOT]).toEqual([
    FAMILY_SLOT,
    true,
    true,
  ]);
});
