import { figureColumn } from '../../web/src/model/trend';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

test.each([
  ['times have the unit of the largest', 'ps', [912_000_000, 54_100_000_000n, 0, null], 'ms', ['0.91', '54.10', '0', '–']],
  ['sizes too', 'bytes', [1024, 3 * 1024 ** 3, null], 'GiB', ['<0.01', '3.00', '–']],
  ['shares', 'share', [0.61, 0.094, null], undefined, ['61.0 %', '9.4 %', '–']],
  ['counts', 'count', [12345, null], undefined, ['12 345', '–']],
])('a column: %s', (_what, unit, values, word, cells) => {
  const column = figureColumn(values, unit);
  expect(column.unit).toBe(word);
  expect(values.map((value) => plain(column.cell(value)))).toEqual(cells);
});
