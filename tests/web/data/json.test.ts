/* SPDX-License-Identifier: Apache-2.0 */
import { parseExact } from '../../../web/src/data/json';

describe('integers stay exact', () => {
  test.each([
    ['a small one is a number', '{"start_ps":12}', { start_ps: 12 }],
    ['2^53 - 1 is a number', '[9007199254740991]', [9007199254740991]],
    ['2^53 + 1 is a bigint', '[9007199254740993]', [9007199254740993n]],
    ['a negative one', '{"a":-9223372036854775808}', { a: -9223372036854775808n }],
    ['several in a row', '[9007199254740993,1,9007199254740995]', [9007199254740993n, 1, 9007199254740995n]],
    ['digits of a text stay text', '["9007199254740993"]', ['9007199254740993']],
    ['digits in a name with quotes', String.raw`["a\"9007199254740993"]`, ['a"9007199254740993']],
    [
      'a fraction of many digits',
      '[0.96444882760742583,-1.99444882760742583]',
      [0.96444882760742583, -1.99444882760742583],
    ],
    ['a long number with an exponent', '[12345678901234567e3]', [12345678901234567e3]],
    ['a key of digits', '{"9007199254740993":1}', { '9007199254740993': 1 }],
  ])('%s', (_what, text, value) => {
    expect(parseExact(text)).toEqual(value);
  });

  test('what is no JSON is refused', () => {
    expect(() => parseExact('{"a":9007199254740993')).toThrow();
    expect(() => parseExact('')).toThrow();
  });
});
