/* SPDX-License-Identifier: Apache-2.0 */
import { formatMarks, nextMarkText, parseMarks } from '../../../web/src/model/marks';

test('marks go to the address and back', () => {
  const marks = [
    { start: 1n, end: 5n, text: 'warm up' },
    { start: 7n, end: 9n, text: '' },
  ];
  expect(formatMarks(marks)).toBe('1-5:warm up,7-9');
  expect(parseMarks('1-5:warm up,7-9')).toEqual(marks);
});
test('a text keeps its colons and loses its commas', () => {
  expect(parseMarks(formatMarks([{ start: 1n, end: 2n, text: 'a:b,c' }])!)).toEqual([
    { start: 1n, end: 2n, text: 'a:b c' },
  ]);
});
test('what is no range is left out; none at all is no key', () => {
  expect(parseMarks('9-1:x,nonsense,2-3')).toEqual([{ start: 2n, end: 3n, text: '' }]);
  expect(parseMarks(undefined)).toEqual([]);
  expect(formatMarks([])).toBeNull();
});
test('the next letter', () => {
  expect(nextMarkText([])).toBe('A');
  expect(
    nextMarkText([
      { start: 0n, end: 1n, text: 'A' },
      { start: 0n, end: 1n, text: 'C' },
    ]),
  ).toBe('B');
});
