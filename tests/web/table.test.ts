import { chosenColumns, groupLines, markdownOf, nextSort, sortPlace, tsvOf } from '../../web/src/model/table';

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
  const keys = (asked: string | undefined, width: number) => chosenColumns(columns, asked, width).map((column) => column.key).join();
  test('what fits, unless some are asked for', () => {
    expect(keys(undefined, 1280)).toBe('name,self');
    expect(keys(undefined, 1600)).toBe('name,self,total');
    expect(keys('max', 400)).toBe('name,max');
  });
});

describe('groups', () => {
  const rows = [
    { name: 'a', scope: 'x', self: 5 }, { name: 'b', scope: 'y', self: 4 }, { name: 'c', scope: 'y', self: 3 },
  ];
  const told = (closed: string[]) =>
    groupLines(rows, (row) => row.scope, (row) => row.self, new Set(closed)).map((line) => (line.kind === 'group' ? `${line.name}:${line.rows.length}` : line.row.name));
  test('the heaviest group first, its rows below it in their order', () => {
    expect(told([])).toEqual(['y:2', 'b', 'c', 'x:1', 'a']);
  });
  test('a closed group keeps its head', () => {
    expect(told(['y'])).toEqual(['y:2', 'x:1', 'a']);
  });
});

describe('copies', () => {
  test('TSV: no tab, no narrow space, no minus but the plain one', () => {
    expect(tsvOf(['name', 'self'], [['a\tb', '\u22121\u202f000']])).toBe('name\tself\na b\t-1 000');
  });
  test('Markdown: pipes are escaped, numbers stand right', () => {
    expect(markdownOf(['name', 'self'], [['a|b', '1']], [false, true])).toBe('| name | self |\n|---|---:|\n| a\\|b | 1 |');
  });
});
