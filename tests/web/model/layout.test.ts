/* SPDX-License-Identifier: Apache-2.0 */
import type { Track } from '../../../web/src/data/types';
import {
  bandAt,
  bandsBetween,
  emptyIn,
  hiddenBy,
  layoutOf,
  mainThread,
  METRICS,
  narrowingOf,
  openAtFirst,
  openOf,
  openParam,
  rowsTop,
  treeOf,
} from '../../../web/src/model/layout';

const track = (
  id: string,
  parent: string | null,
  kind: Track['kind'],
  depth = 0,
  host = 'hostA',
  name = id,
): Track => ({
  id,
  parent,
  host,
  name,
  kind,
  derived: false,
  depth_count: depth,
  slice_count: depth === 0 ? 0 : 10,
  duration_sum_ps: 0,
  start_ps: 0,
  end_ps: 1,
});

const tracks = [
  track('h', null, 'process'),
  track('h.main', 'h', 'thread', 12, 'hostA', 'python'),
  track('h.pool', 'h', 'thread', 9),
  track('h.flat', 'h', 'thread', 2),
  track('h.empty', 'h', 'thread', 0),
  track('g0', null, 'device'),
  track('g0.ops', 'g0', 'stream', 4),
  track('g0.heap', 'g0', 'counter'),
  track('g1', null, 'device'),
  track('g1.ops', 'g1', 'stream', 4),
];

const picture = (list: Track[], open?: Set<string>) => {
  const roots = treeOf(list);
  const isOpen = open ?? openAtFirst(roots);
  return layoutOf(roots, (id) => isOpen.has(id), METRICS.normal!).bands.map(
    (band) =>
      `${band.y} ${'  '.repeat(band.node.level - 1)}${band.node.id}${band.open ? ` ${band.depthCount}` : ' closed'}`,
  );
};

test('devices before hosts; the first device and the main thread open, empty tracks absent', () => {
  expect(picture(tracks)).toEqual([
    '0 g0 0',
    '24   g0.ops 4',
    '104   g0.heap 0',
    '152 g1 closed',
    '176 h 0',
    '200   h.main 12',
    '440   h.pool closed',
    '464   h.flat 2',
  ]);
});

test('the thread of the process is the main one in PyTorch, named by its number', () => {
  const thread = (id: number, sum: number): Track => ({
    ...track(`p.${id}`, 'p', 'thread', 12, 'hostA', `thread ${id} (python3.8)`),
    order: id,
    duration_sum_ps: sum,
  });
  const list = [{ ...track('p', null, 'process'), order: 783 }, thread(785, 9000), thread(783, 5000)];
  const roots = treeOf(list);
  expect(mainThread(roots)?.id).toBe('p.783');
  expect([...openAtFirst(roots)]).toEqual(['p', 'p.783']);
  expect(roots[0]!.children.map((node) => node.name)).toEqual(['python3.8 783', 'python3.8 785']);
});

test('threads with nothing in the first window stand closed', () => {
  const at = (id: string, start: number, end: number): Track => ({
    ...track(id, null, 'thread', 3),
    start_ps: start,
    end_ps: end,
  });
  const roots = treeOf([at('before', 0, 10), at('within', 5, 30), at('behind', 50, 60)]);
  expect(emptyIn(roots, openAtFirst(roots), 20n, 40n)).toEqual(['before', 'behind']);
});

test('tracks stand as the file orders them, then those that it does not order, as found', () => {
  const ordered = (id: string, order: number | null): Track => ({ ...track(id, 'h', 'thread', 1), order });
  const list = [
    track('h', null, 'process'),
    ordered('third', 7),
    ordered('free', null),
    ordered('first', -1),
    ordered('free too', null),
    ordered('second', 0),
  ];
  expect(treeOf(list)[0]!.children.map((node) => node.id)).toEqual(['first', 'second', 'third', 'free', 'free too']);
});

test('the device with most work opens, the one in front of it stays closed', () => {
  const timed = (id: string, parent: string, ps: number, derived = false): Track => ({
    ...track(id, parent, 'stream', 1),
    duration_sum_ps: ps,
    derived,
  });
  const list = [
    track('g0', null, 'device'),
    timed('g0.copies', 'g0', 5),
    timed('g0.derived', 'g0', 100, true),
    track('g7', null, 'device'),
    timed('g7.kernels', 'g7', 20),
    track('g8', null, 'device'),
    timed('g8.kernels', 'g8', 20),
  ];
  expect([...openAtFirst(treeOf(list))].filter((id) => !id.includes('.'))).toEqual(['g7']);
});

test('of ranks that share work the first opens, with the main thread beside it', () => {
  const timed = (id: string, parent: string, kind: Track['kind'], ps: number, host: string, name = id): Track => ({
    ...track(id, parent, kind, 9, host, name),
    duration_sum_ps: ps,
  });
  const rank = (number: number, kernels: number, calls: number): Track[] => [
    track(`g${number}`, null, 'device', 0, `rank${number}`),
    timed(`g${number}.7`, `g${number}`, 'stream', kernels, `rank${number}`),
    track(`p${number}`, null, 'process', 0, `rank${number}`),
    timed(`p${number}.main`, `p${number}`, 'thread', calls, `rank${number}`, 'python3'),
  ];
  const opened = (...list: Track[]) => [...openAtFirst(treeOf(list))].filter((id) => id.includes('.'));
  expect(opened(...rank(0, 100, 50), ...rank(1, 104, 60))).toEqual(['g0.7', 'p0.main']);
  expect(opened(...rank(0, 100, 60), ...rank(1, 200, 50))).toEqual(['g1.7', 'p1.main']);
});

test('moments of the whole trace stand last and closed', () => {
  const list = [
    track('(global)', null, 'process'),
    track('(global).0', '(global)', 'thread', 1),
    track('h', null, 'process'),
    { ...track('h.main', 'h', 'thread', 4, 'hostA', 'main'), duration_sum_ps: 7 },
  ];
  expect(picture(list)).toEqual(['0 h 0', '24   h.main 4', '104 (global) closed']);
});

test('several hosts stand above their tracks', () => {
  const list = [
    track('a', null, 'process', 0, 'hostA'),
    track('a.1', 'a', 'thread', 1, 'hostA'),
    track('b', null, 'process', 0, 'hostB'),
    track('b.1', 'b', 'thread', 1, 'hostB'),
  ];
  expect(picture(list)).toEqual([
    '0 host:hostA 0',
    '24   a 0',
    '48     a.1 1',
    '68 host:hostB 0',
    '92   b 0',
    '116     b.1 1',
  ]);
});

test('a closed host shows the summaries of all its roots', () => {
  const list = [
    track('a', null, 'device', 0, 'hostA'),
    track('a.1', 'a', 'thread', 1, 'hostA'),
    track('b', null, 'process', 0, 'hostB'),
    track('b.1', 'b', 'thread', 1, 'hostB'),
  ];
  const { bands } = layoutOf(treeOf(list), () => false, METRICS.normal!);
  expect(bands.map((band) => band.summaries)).toEqual([['a'], ['b']]);
});

test('points and windows find their bands', () => {
  const roots = treeOf(tracks);
  const open = openAtFirst(roots);
  const layout = layoutOf(roots, (id) => open.has(id), METRICS.normal!);
  expect(bandAt(layout, 25)!.node.id).toBe('g0.ops');
  expect(bandAt(layout, 103)!.node.id).toBe('g0.ops');
  expect(bandAt(layout, 104)!.node.id).toBe('g0.heap');
  expect(bandAt(layout, 1e6)).toBeNull();
  expect(bandsBetween(layout, 103, 160).map((band) => band.node.id)).toEqual(['g0.ops', 'g0.heap', 'g1']);
  expect(rowsTop(bandAt(layout, 25)!)).toBe(24);
});

test('a restriction leaves tracks, what is above and what is below', () => {
  const roots = treeOf(tracks);
  const left = (query: Record<string, string>) => {
    const hidden = hiddenBy(roots, narrowingOf(query));
    return layoutOf(roots, () => true, METRICS.normal!, hidden).bands.map((band) => band.node.id);
  };
  expect(left({ track: 'h.pool' })).toEqual(['h', 'h.pool']);
  expect(left({ track: 'g0' })).toEqual(['g0', 'g0.ops', 'g0.heap']);
  expect(left({ host: 'hostB' })).toEqual([]);
  expect(left({ device: '3' })).toHaveLength(9);
  expect(left({})).toHaveLength(9);
});

test('the address tells what is folded otherwise than at first', () => {
  const first = new Set(['a', 'b']);
  expect(openParam(first, new Set(['b', 'c']))).toBe('c,-a');
  expect([...openOf(first, 'c,-a')].sort()).toEqual(['b', 'c']);
  expect(openParam(first, openOf(first, undefined))).toBe('');
});

test('a parent that is not there makes a root, not a crash', () => {
  expect(picture([track('x', 'gone', 'thread', 1)])).toEqual(['0 x 1']);
});
