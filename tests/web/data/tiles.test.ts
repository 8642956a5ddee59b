/* SPDX-License-Identifier: Apache-2.0 */
import { CELL_FROM_BEFORE, decodeTiles, NameTable, shadeOf } from '../../../web/src/data/tiles';
import { rowsParam } from '../../../web/src/data/tile_store';

/* Writes a reply by the words of api/tile.md, independent of the reader. */
class Writer {
  private readonly bytes: number[] = [];
  u8 = (...values: number[]) => void this.bytes.push(...values);
  u16 = (...values: number[]) => values.forEach((value) => this.u8(value & 255, value >> 8));
  u32 = (...values: number[]) =>
    values.forEach((value) => this.u8(value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24));
  i64 = (value: bigint) => this.u32(Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n)));
  pad = () => {
    while (this.bytes.length % 4 !== 0) this.u8(0);
  };
  text = (text: string) => this.u8(...new TextEncoder().encode(text));
  done = () => new Uint8Array(this.bytes).buffer;
}

function head(writer: Writer, from: bigint, tiles: number, rows: number, names: string[]): void {
  writer.text('JVT1');
  writer.u32(20);
  writer.i64(from);
  writer.u32(tiles, rows, names.length, 0);
  writer.i64(-5000n);
  let at = 0;
  for (const name of names) {
    writer.u32(at);
    at += new TextEncoder().encode(name).length;
  }
  writer.u32(at);
  names.forEach(writer.text);
  writer.pad();
}

function sample(): ArrayBuffer {
  const writer = new Writer();
  head(writer, -2n, 2, 1, ['dot.63', 'é']);
  writer.u32(0, 3);
  (writer.u16(10, 5, 100), writer.pad());
  (writer.u16(1, 2, 3), writer.pad());
  (writer.u16(0, 1, 0), writer.pad());
  (writer.u16(65535, 0, 32768), writer.pad());
  (writer.u8(0, 1, 6), writer.pad());
  (writer.u8(CELL_FROM_BEFORE, 1, 0), writer.pad());
  (writer.u8(1, 7, 255), writer.pad());
  writer.u32(1, 1024);
  for (let kind = 0; kind < 7; kind++)
    for (let quantum = 0; quantum < 1024; quantum++) writer.u16(kind * 1000 + (quantum % 7));
  return writer.done();
}

test('a reply is read as written', () => {
  const names = new NameTable();
  const reply = decodeTiles(sample(), names);
  expect(reply).toMatchObject({ level: 20, from: -2, tileCount: 2, rowCount: 1, offset: -5000n });
  const cells = reply.parts[0]!.cells!;
  expect([...cells.start]).toEqual([10, 15, 115]);
  expect([...cells.width]).toEqual([1, 2, 3]);
  expect([...cells.name].map((id) => names.texts[id])).toEqual(['dot.63', 'é', 'dot.63']);
  expect([...cells.busy]).toEqual([65535, 0, 32768]);
  expect([...cells.kind]).toEqual([0, 1, 6]);
  expect([...cells.flags]).toEqual([CELL_FROM_BEFORE, 1, 0]);
  expect([...cells.slices]).toEqual([1, 7, 255]);
  const { summary } = reply.parts[1]!;
  expect(summary![3 * 1024 + 8]).toBe(3001);
});

test('names of two replies share ids', () => {
  const names = new NameTable();
  const first = decodeTiles(sample(), names).parts[0]!.cells!;
  const second = decodeTiles(sample(), names).parts[0]!.cells!;
  expect([...second.name]).toEqual([...first.name]);
  expect(names.texts).toHaveLength(2);
});

test('what is no tile reply, and every prefix of one, is refused', () => {
  const whole = sample();
  expect(() =>
    decodeTiles(
      new TextEncoder().encode('<html>..................................').buffer as ArrayBuffer,
      new NameTable(),
    ),
  ).toThrow('JVT1');
  for (let size = 0; size < 200; size++)
    expect(() => decodeTiles(whole.slice(0, size), new NameTable()), `${size} bytes`).toThrow();
});

test('a name always has the same one of three shades', () => {
  expect([shadeOf('dot.63'), shadeOf('dot.63')]).toEqual([shadeOf('dot.63'), shadeOf('dot.63')]);
  const shades = new Set(Array.from({ length: 50 }, (_, index) => shadeOf(`op.${index}`)));
  expect([...shades].sort()).toEqual([0, 1, 2]);
});

test.each([
  ['one row', [{ track: 'a.1', depth: 0 }], 'a.1:0'],
  ['depths in a row become a range', [0, 1, 2].map((depth) => ({ track: 'a.1', depth })), 'a.1:0-2'],
  [
    'a gap splits it',
    [
      { track: 'a.1', depth: 0 },
      { track: 'a.1', depth: 2 },
    ],
    'a.1:0,a.1:2',
  ],
  [
    'another track splits it',
    [
      { track: 'a.1', depth: 0 },
      { track: 'a.2', depth: 1 },
    ],
    'a.1:0,a.2:1',
  ],
  [
    'summaries',
    [
      { track: 'a.1', depth: 's' as const },
      { track: 'a.2', depth: 's' as const },
    ],
    'a.1:s,a.2:s',
  ],
])('rows as asked: %s', (_what, rows, text) => {
  expect(rowsParam(rows as Parameters<typeof rowsParam>[0])).toBe(text);
});
