/* SPDX-License-Identifier: Apache-2.0 */
import {
  areNamesShared,
  chosenColumns,
  csvOf,
  groupLines,
  markdownOf,
  nextSort,
  sortPlace,
  sortRows,
  tsvOf,
  typedTo,
} from '../../../web/src/model/table';

describe('sorting', () => {
  test('a click begins with the large numbers and turns round; names begin with a', () => {
    expect(nextSort('', 'self_ps', true, false)).toBe('-self_ps');
    expect(nextSort('-self_ps', 'self_ps', true, false)).toBe('self_ps');
    expect(nextSort('-self_ps', 'name', false, false)).toBe('name');
  });
  test('shift adds, and turns what is there', () => {
    expect(nextSort('-self_ps', 'name', false, true)).toBe('-self_ps,name');
    expect(nextSort('-self_ps,name', 'self_ps', true, true)).toBe('self_ps,name');
  });
  test('the place in the order', () => {
    expect(sortPlace('-self_ps,name', 'name')).toEqual({ at: 1, down: false, of: 2 });
    expect(sortPlace('-self_ps', 'name').at).toBe(-1);
  });
});

describe('columns', () => {
  const columns = [{ key: 'name' }, { key: 'self' }, { key: 'total', from: 1500 }, { key: 'max', optional: true }];
  const keys = (asked: string | undefined, width: number) =>
    chosenColumns(columns, asked, width)
      .map((column) => column.key)
      .join();
  test('what fits, unless some are asked for', () => {
    expect(keys(undefined, 1280)).toBe('name,self');
    expect(keys(undefined, 1600)).toBe('name,self,total');
    expect(keys('max', 400)).toBe('name,max');
  });
});

describe('groups', () => {
  const rows = [
    { name: 'a', scope: 'x', self: 5 },
    { name: 'b', scope: 'y', self: 4 },
    { name: 'c', scope: 'y', self: 3 },
  ];
  const told = (opened: string[]) =>
    groupLines(
      rows,
      (row) => row.scope,
      (row) => row.self,
      new Set(opened),
    ).map((line) => (line.kind === 'group' ? `${line.name}:${line.rows.length}` : line.row.name));
  test('the heaviest group first, its rows below it in their order', () => {
    expect(told(['x', 'y'])).toEqual(['y:2', 'b', 'c', 'x:1', 'a']);
  });
  test('a group is closed at first', () => {
    expect(told(['x'])).toEqual(['y:2', 'x:1', 'a']);
  });
});

describe('copies', () => {
  test('TSV: no tab, no narrow space, no minus but the plain one', () => {
    expect(tsvOf(['name', 'self'], [['a\tb', '\u22121\u202f000']])).toBe('name\tself\na b\t-1 000');
  });
  test('Markdown: pipes are escaped, numbers stand right', () => {
    expect(markdownOf(['name', 'self'], [['a|b', '1']], [false, true])).toBe(
      '| name | self |\n|---|---:|\n| a\\|b | 1 |',
    );
  });
});

describe('rows that are all here', () => {
  const rows = [
    { name: 'b', self: 1 },
    { name: 'a10', self: 2 },
    { name: 'a9', self: 2 },
    { name: 'c', self: null },
  ];
  const told = (sort: string) =>
    sortRows(rows, sort, (row, key) => (row as Record<string, string | number | null>)[key] ?? null)
      .map((row) => row.name)
      .join();
  test('by several columns; numbers in names count; unknown last either way', () => {
    expect(told('-self,name')).toBe('a9,a10,b,c');
    expect(told('self,-name')).toBe('b,a10,a9,c');
    expect(told('')).toBe('b,a10,a9,c');
    expect(told('nothing')).toBe('b,a10,a9,c');
  });
});

describe('typed to', () => {
  const names = ['dot.1', 'copy', 'reduce', 'dot.2', null];
  const to = (text: string, from: number) => typedTo(text, from, names.length, (index) => names[index]!);
  test('the next that begins so, round the end; else one that holds it', () => {
    expect(to('DO', 1)).toBe(3);
    expect(to('dot', 4)).toBe(0);
    expect(to('duc', 0)).toBe(2);
    expect(to('x', 0)).toBe(-1);
  });
});

test('CSV: quotes, no formula', () => {
  expect(
    csvOf(
      ['name', 'self'],
      [
        ['a,"b"', '-1'],
        ['=1+1', '\u22122'],
        ['-x', ''],
      ],
    ),
  ).toBe('name,self\r\n"a,""b""",-1\r\n\'=1+1,-2\r\n\'-x,\r\n');
});

test('names that stand for two rows need what tells these apart', () => {
  expect([['a', 'b'], ['a', 'b', 'a'], []].map((names) => areNamesShared(names.map((name) => ({ name }))))).toEqual([
    false,
    true,
    false,
  ]);
});
