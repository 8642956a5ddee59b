/* SPDX-License-Identifier: Apache-2.0 */
import { answerOf, bytesOf, keyOf, sorted, type Contents } from '../../../web/src/bundle/answers';
import { rowsOf } from '../../../web/src/data/tile_store';

const contents: Contents = {
  run: 'r1',
  program: 'jviewd',
  tiles: [],
  reduced: [],
  answers: {
    'api/top?by=op': {
      status: 200,
      body: {
        row_count: 3,
        rows: [
          { name: 'b', self_ps: 5 },
          { name: 'a', self_ps: 12345678901234567890n },
          { name: 'c', self_ps: null },
        ],
      },
    },
  },
};

test.each([
  ['api/top', { run: 'r1', by: 'op', sort: '-self_ps', limit: 50 }, 'api/top?by=op'],
  ['api/top', { by: 'op', step: '1-3' }, 'api/top?by=op&step=1-3'],
  ['api/run', { run: 'r1' }, 'api/run'],
])('%s %o is looked up as %s', (path, params, key) => {
  expect(keyOf(path, params)).toBe(key);
});

test('an order that is not kept is made of the rows, and what is unknown stands last', () => {
  const names = (sort: string) =>
    sorted(contents.answers['api/top?by=op']!.body.rows as Record<string, unknown>[], sort).map((row) => row.name);
  expect(names('-self_ps')).toEqual(['a', 'b', 'c']);
  expect(names('self_ps')).toEqual(['b', 'a', 'c']);
  expect(names('name')).toEqual(['a', 'b', 'c']);
});

test('long integers leave as they came', async () => {
  const text = await answerOf(contents, 'api/top?run=r1&by=op&sort=-self_ps').text();
  expect(text).toContain('"self_ps":12345678901234567890}');
});

test.each(['\u000112', '"\u0001-7', '\u0001\u00013', '\\u00014', '</script>'])(
  'the text %j stays a text',
  async (name) => {
    const one: Contents = {
      ...contents,
      answers: {
        'api/top?by=op': { status: 200, body: { [name]: name, rows: [{ name, self_ps: 12345678901234567890n }] } },
      },
    };
    const text = await answerOf(one, 'api/top?run=r1&by=op').text();
    expect(JSON.parse(text)).toEqual({ [name]: name, rows: [{ name, self_ps: Number(12345678901234567890n) }] });
  },
);

test('the path of the step that stands for others is found by its number, that of another is not', async () => {
  const one: Contents = {
    ...contents,
    answers: { 'api/critical': { status: 200, body: { step: { step: 7 }, pieces: [] } } },
  };
  expect(answerOf(one, 'api/critical?run=r1&step=7&limit=10').status).toBe(200);
  expect(answerOf(one, 'api/critical?run=r1&step=8&limit=10').status).toBe(404);
  expect(answerOf(one, 'api/critical?run=r1&by=op&step=7').status).toBe(404);
});

test('what is not kept is told, not invented', async () => {
  const reply = answerOf(contents, 'api/top?run=r1&by=scope');
  expect(reply.status).toBe(404);
  expect((await reply.json()).detail).toMatch(/summary/);
});

test('bytes and rows come back', () => {
  expect([...new Uint8Array(bytesOf('SlZUMf8='))]).toEqual([0x4a, 0x56, 0x54, 0x31, 0xff]);
  expect(rowsOf('1a.3:s,1a.3:0-1,1a.4:2')).toEqual([
    { track: '1a.3', depth: 's' },
    { track: '1a.3', depth: 0 },
    { track: '1a.3', depth: 1 },
    { track: '1a.4', depth: 2 },
  ]);
});
