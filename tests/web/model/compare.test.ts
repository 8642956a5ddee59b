/* SPDX-License-Identifier: Apache-2.0 */
import type { DiffRow } from '../../../web/src/data/diff';
import {
  barOf,
  changeInScale,
  compareChange,
  firstOf,
  goalEither,
  goalOf,
  inOrder,
  intoRun,
  matchExact,
  matchWords,
  nameExact,
  pickOrder,
  ratioWords,
  sideOf,
  sideShort,
  sideWords,
  spreadOf,
  stateExact,
  whyWords,
  partBefore,
} from '../../../web/src/model/compare';
import { cellsOf, nodeAtPath, partsOf, scopeTree, toneOf } from '../../../web/src/model/compare_tree';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

const row = (more: Partial<DiffRow> = {}): DiffRow => ({
  key: 'f/dot.1',
  name: 'dot.12',
  state: 'slower',
  kind: 'compute',
  category: 'dot',
  module: 'f',
  scope: 'jit(f)/mlp',
  source: 'm.py:1',
  a_name: 'dot.1',
  b_name: 'dot.12',
  a_shape: 'f32[8]{0}',
  b_shape: 'f32[8]{0}',
  a_self_ps: 10e9,
  b_self_ps: 15e9,
  delta_ps: 5e9,
  share: 0.5,
  a_count: 4,
  b_count: 4,
  often_ps: 0,
  longer_ps: 5e9,
  p: 0.008,
  match: 'structure',
  confidence: 0.99,
  reasons: {},
  ...more,
});
const rest = (key: string, more: Partial<DiffRow> = {}): DiffRow =>
  row({
    key,
    name: key,
    a_name: key,
    b_name: key,
    match: null,
    confidence: null,
    a_count: null,
    b_count: null,
    often_ps: null,
    longer_ps: null,
    reasons: { match: 'it is not an op', often_ps: 'it is not counted' },
    ...more,
  });

describe('a side', () => {
  test.each([
    ['step_500', { run: 'step_500' }, 'step_500'],
    ['step_500@step=4-9', { run: 'step_500', step: '4-9' }, 'step_500, steps 4–9'],
    ['a@b@step=4', { run: 'a@b', step: '4' }, 'a@b, step 4'],
    ['r@1000000000-2000000000', { run: 'r', start: '1000000000', end: '2000000000' }, 'r, 1.00 ms … 2.00 ms'],
    ['me@home', { run: 'me@home' }, 'me@home'],
    ['x\u0007', { run: 'x\u0007' }, 'x\ufffd'],
  ])('%s', (text, side, words) => {
    expect(sideOf(text)).toEqual(side);
    expect(plain(sideWords(text))).toBe(words);
  });
  test('long names keep both ends', () => {
    const [a, b] = ['1', '2'].map((end) => sideShort(`${'runs/'.repeat(20)}worker${end}@step=3`));
    expect(a).not.toBe(b);
    expect(a!.length).toBeLessThan(60);
    expect(a).toMatch(/worker1, step 3$/);
  });
  test('into a run goes what that side is narrowed to, and nothing of the comparison', () => {
    expect(intoRun('r@step=4', { view: 'ops' })).toEqual({
      a: null,
      b: null,
      by: null,
      sort: null,
      q: null,
      columns: null,
      key: null,
      zoom: null,
      align: null,
      offset: null,
      window: null,
      run: 'r',
      step: '4',
      start_ps: null,
      end_ps: null,
      view: 'ops',
    });
    expect(compareChange('x', 'y')).toMatchObject({
      run: null,
      view: 'compare',
      a: 'x',
      b: 'y',
      window: null,
      sort: null,
    });
  });
});

const run = (name: string, started_at: string | null) => ({ id: `id ${name}`, name, started_at });

describe('which two', () => {
  const runs = [
    run('step_1500', '2026-01-03T00:00:00Z'),
    run('step_1000', '2026-01-02T00:00:00Z'),
    run('step_500', '2026-01-01T00:00:00Z'),
    run('other', '2026-01-09T00:00:00Z'),
    run('nameless', null),
  ];
  test('the older is a, whatever was ticked first; without times the numbers say', () => {
    expect(inOrder(runs[0]!, runs[2]!).map((one) => one.name)).toEqual(['step_500', 'step_1500']);
    expect(inOrder(run('step_1000', null), run('step_500', null)).map((one) => one.name)).toEqual([
      'step_500',
      'step_1000',
    ]);
  });
  test('the nearest of the series first, then the newest; not the run itself', () => {
    expect(pickOrder(runs, 'step_1400').map((one) => one.name)).toEqual([
      'step_1500',
      'step_1000',
      'step_500',
      'other',
      'nameless',
    ]);
    expect(pickOrder(runs, 'id step_500').map((one) => one.name)).not.toContain('step_500');
  });
});

describe('words of a row', () => {
  test.each([
    [{}, 'longer each time'],
    [{ longer_ps: -5e9, delta_ps: -5e9, state: 'faster' as const }, 'shorter each time'],
    [{ often_ps: 5e9, longer_ps: 0, b_count: 6 }, 'more often (4 → 6)'],
    [{ often_ps: -5e9, longer_ps: 1e6, b_count: 2.5, state: 'faster' as const }, 'less often (4 → 2.50)'],
    [{ often_ps: 4e9, longer_ps: 3e9, b_count: 6 }, 'more often (4 → 6), and longer each time'],
    [{ often_ps: 8e9, longer_ps: -3e9, b_count: 8 }, 'more often (4 → 8), but shorter each time'],
    [{ state: 'same' as const }, ''],
    [{ state: 'new' as const, a_self_ps: null }, ''],
    [{ b_shape: 'f32[16]{0}' }, 'f32[8] → f32[16]: longer each time'],
    [{ b_shape: 'f32[8]{0:T(8)}' }, 'longer each time'],
    [{ a_shape: null }, 'longer each time'],
  ])('why: %o', (more, words) => expect(whyWords(row(more))).toBe(words));
  test('what is no op has no cause', () => {
    expect(whyWords(rest('idle'))).toBe('');
    expect(whyWords(rest('other', { a_self_ps: 1e9, b_self_ps: 0 }))).toBe('');
    expect(nameExact(rest('idle'))).toMatch(/^idle: nothing ran/);
    expect(nameExact(row())).toBe('dot.12, in A dot.1');
  });
  test('a match that is often wrong wears ≈', () => {
    expect(matchWords(row())).toBe('structure');
    expect(plain(matchWords(row({ match: 'stem', confidence: 0.5 })))).toBe('≈ stem');
    expect(matchWords(row({ match: 'none', confidence: 1, state: 'new' }))).toBe('no partner');
    expect(matchWords(rest('idle'))).toBe('');
    expect(plain(matchExact(row())!)).toBe(
      'structure: the same operation on the same operands; right in 99 % of cases',
    );
    expect(matchExact(rest('idle'))).toBe('it is not an op');
    expect(stateExact(row({ p: 0.0001 }))).toBe('slower: takes longer in B; p = <0.001');
  });
  test('change with its sign, ratio from double on in times', () => {
    const scale = { unit: 'ms', divisor: 1e9, decimals: 2 };
    expect([5e9, -5e9, 0, 1, -1, null].map((value) => plain(changeInScale(value, scale)))).toEqual([
      '+5.00',
      '−5.00',
      '0',
      '+<0.01',
      '−<0.01',
      '–',
    ]);
    expect([ratioWords(10, 41), ratioWords(10, 15), ratioWords(10, 7), ratioWords(0, 7)].map(plain)).toEqual([
      '4.1 times',
      '+50 %',
      '−30 %',
      '',
    ]);
  });
});

describe('where a row leads', () => {
  test('to its slices in either run; a group to its first', () => {
    expect(firstOf('fusion.3 + 2')).toBe('fusion.3');
    expect(goalOf(row({ a_name: 'dot.1 + 1' }), 'op', 'a', 'x')).toMatchObject({
      run: 'x',
      view: 'timeline',
      find: 'op:dot.1',
    });
    expect(goalOf(row({ b_name: null, state: 'gone' }), 'op', 'b', 'y')).toBeNull();
    expect(goalEither(row({ b_name: null, state: 'gone' }), 'op', 'x', 'y')).toMatchObject({
      run: 'x',
      find: 'op:dot.1',
    });
    expect(goalOf(row({ b_name: 'jit(f)/mlp' }), 'scope', 'b', 'y@step=3')).toMatchObject({
      run: 'y',
      view: 'ops',
      scope: 'jit(f)/mlp',
      step: '3',
    });
    expect(goalOf(row({ b_name: 'dot' }), 'category', 'b', 'y')).toMatchObject({ view: 'ops', q: 'category:"dot"' });
    expect(goalOf(row({ b_name: '(no scope)' }), 'scope', 'b', 'y')).toBeNull();
    expect(goalOf(rest('idle'), 'op', 'b', 'y')).toMatchObject({ view: 'steps', by: 'idle' });
    expect(goalOf(rest('other'), 'op', 'b', 'y')).toBeNull();
  });
});

test('bars go both ways from one zero and fill the room', () => {
  const spread = spreadOf([row({ delta_ps: 30 }), row({ delta_ps: -10 })]);
  expect(spread.zero).toBe(0.25);
  expect(barOf(30, spread)).toEqual({ from: 0.25, width: 0.75 });
  expect(barOf(-10, spread)).toEqual({ from: 0, width: 0.25 });
  expect(barOf(0, spreadOf([row({ delta_ps: 0 })]))).toEqual({ from: 0, width: 0 });
});

describe('scopes of both as one tree', () => {
  const scope = (name: string, a: number | null, b: number | null) => row({ name, a_self_ps: a, b_self_ps: b });
  const tree = scopeTree([
    scope('jit(f)/mlp/dot', 10, 15),
    scope('jit(f)/mlp/tanh', 2, null),
    scope('jit(f)/norm', null, 30),
    rest('idle', { a_self_ps: 99 }),
  ]);
  test('slashes in parentheses part nothing', () => {
    expect(partsOf('jit(f)/transpose(jvp(a/b))/mul')).toEqual(['jit(f)', 'transpose(jvp(a/b))', 'mul']);
    expect(partsOf('//x/')).toEqual(['x']);
    expect(partsOf('a)/b')).toEqual(['a)', 'b']);
  });
  test('a node has the time of all below, on each side; what is no op is left out', () => {
    expect([tree.a, tree.b]).toEqual([12, 45]);
    const f = tree.children[0]!;
    expect([f.name, f.a, f.b, f.children.map((one) => one.name)]).toEqual(['jit(f)', 12, 45, ['norm', 'mlp']]);
    expect(nodeAtPath(tree, 'jit(f)/mlp').children.map((one) => [one.name, one.a, one.b])).toEqual([
      ['dot', 10, 15],
      ['tanh', 2, 0],
    ]);
    expect(nodeAtPath(tree, 'jit(f)/gone/x').path).toBe('jit(f)');
  });
  test('one scale: children lie in their parents, and what is too narrow is left out with all below', () => {
    const cells = cellsOf(tree, 'a', 1 / 45, 0.05);
    expect(cells.map((one) => [one.node.name, one.depth])).toEqual([
      ['all scopes', 0],
      ['jit(f)', 1],
      ['mlp', 2],
      ['dot', 3],
    ]);
    expect(cells[0]!.width).toBeCloseTo(12 / 45);
  });
  test('tones by the share of the longer step', () => {
    const tone = (a: number, b: number) => toneOf({ name: '', path: '', a, b, children: [] }, 1000);
    expect([
      tone(0, 100),
      tone(0, 30),
      tone(0, 5),
      tone(0, 4),
      tone(4, 0),
      tone(5, 0),
      tone(30, 0),
      tone(100, 0),
    ]).toEqual([1, 2, 3, 4, 4, 5, 6, 7]);
  });
});

test('a part is held against the one before it', () => {
  expect(partBefore('r', { step: '4' })).toMatchObject({ a: 'r@step=3', b: 'r@step=4' });
  expect(partBefore('r', { start: 50n, end: 70n })).toMatchObject({ a: 'r@30-50', b: 'r@50-70' });
  for (const none of [{}, { step: '0' }, { step: '2-5' }, { step: '1,2' }, { start: 10n, end: 40n }, { start: 10n }])
    expect(partBefore('r', none)).toBeNull();
});
