/* SPDX-License-Identifier: Apache-2.0 */
import {
  changed,
  faultsOf,
  formatQuery,
  isPlaceChange,
  parseQuery,
  parseSpan,
  rangeOf,
  restrictionOf,
  runChange,
} from '../../../web/src/model/address';

test('an address is read and written alike', () => {
  const query = parseQuery('?run=a/b&view=timeline&window=-10-20&q=scope:mlp+self%3E1ms');
  expect(query).toEqual({ run: 'a/b', view: 'timeline', window: '-10-20', q: 'scope:mlp self>1ms' });
  expect(parseQuery(formatQuery(query))).toEqual(query);
  expect(formatQuery(query)).toContain('run=a/b');
  expect(formatQuery({})).toBe('?');
});

test('names of files survive', () => {
  for (const name of ['a&b=c', 'ü 50%', '#x?', 'a+b', '\u{1f600}', '"<script>"'])
    expect(parseQuery(formatQuery({ run: name })).run, name).toBe(name);
});

test('null takes a key away', () => {
  expect(changed({ run: 'a', find: 'dot' }, { find: null, view: 'ops' })).toEqual({ run: 'a', view: 'ops' });
});

test('another run keeps what still has a meaning', () => {
  const query = {
    run: 'a',
    view: 'ops',
    by: 'scope',
    scope: 'mlp',
    slice: 'k-1',
    window: '1-2',
    step: '3',
    start_ps: '1',
    end_ps: '2',
  };
  expect(changed(query, runChange('b'))).toEqual({ run: 'b', view: 'ops', by: 'scope', scope: 'mlp' });
});

test.each([
  ['view', { view: 'ops' }, true],
  ['a committed range', { start_ps: '1', end_ps: '5' }, true],
  ['a flame zoom', { zoom: 'a;b' }, true],
  ['the window', { window: '1-2' }, false],
  ['the order of a table', { sort: 'name' }, false],
  ['typing', { q: 'dot' }, false],
])('back stops at places: %s', (_what, change, is) => {
  const query = { run: 'a', view: 'timeline' };
  expect(isPlaceChange(query, changed(query, change))).toBe(is);
});

test.each([
  ['0-5', { start: 0n, end: 5n }],
  ['-9-5', { start: -9n, end: 5n }],
  ['-9--5', { start: -9n, end: -5n }],
  ['9007199254740993-9007199254740995', { start: 9007199254740993n, end: 9007199254740995n }],
  ['5-5', null],
  ['5-4', null],
  ['x', null],
  ['1.5-2', null],
  ['', null],
])('span %s', (text, span) => {
  expect(parseSpan(text)).toEqual(span);
});

test('a bad value is named', () => {
  expect(faultsOf({ window: '9-1' })[0]).toContain('window=9-1');
  expect(faultsOf({ view: 'nope' })[0]).toContain('nope');
  expect(faultsOf({ start_ps: '5' })).toHaveLength(1);
  expect(faultsOf({ run: 'a', view: 'runs', step: '1-11,14', unknown: 'x' })).toEqual([]);
});

test('what narrows all views', () => {
  expect(restrictionOf({ run: 'a', view: 'ops', device: '3', scope: 'mlp', q: 'x' })).toEqual({
    device: '3',
    scope: 'mlp',
  });
  expect(rangeOf({ start_ps: '3', end_ps: '9' })).toEqual({ start: 3n, end: 9n });
});
