/* SPDX-License-Identifier: Apache-2.0 */
import {
  layered,
  layersOf,
  SMALL,
  SPAN_MAX,
  type BoxLink,
  type BoxSize,
} from '../../../web/src/model/pictures/layered';

const box = (id: string): BoxSize => ({ id, width: 100, height: 36 });
const link = (text: string): BoxLink => {
  const [from, to] = text.split('>') as [string, string];
  return { from, to };
};

function overlaps(boxes: readonly { id: string; x: number; y: number; width: number; height: number }[]): string[] {
  return boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
      .map((b) => `${a.id} ${b.id}`),
  );
}

describe('layersOf', () => {
  it('puts whoever gives above whoever takes, by the longest path', () => {
    const layers = layersOf(['a', 'b', 'c', 'd'].map(box), ['a>b', 'b>c', 'a>c', 'c>d'].map(link));
    expect([...layers]).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['d', 3],
    ]);
  });
  it('puts what has nothing above it just above its first user', () => {
    const layers = layersOf(['a', 'b', 'c', 'p'].map(box), ['a>b', 'b>c', 'p>c'].map(link));
    expect(layers.get('p')).toBe(1);
  });
  it('ends where links run in a circle', () => {
    const layers = layersOf(['a', 'b', 'c'].map(box), ['a>b', 'b>c', 'c>a'].map(link));
    expect(layers.size).toBe(3);
  });
});

describe('layered', () => {
  it('places boxes beside one another, users below', () => {
    const { boxes, links } = layered(['a', 'b', 'c'].map(box), ['a>c', 'b>c'].map(link));
    const y = Object.fromEntries(boxes.map((one) => [one.id, one.y]));
    expect(y.a).toBe(y.b);
    expect(y.c).toBeGreaterThan(y.a! + 36);
    expect(overlaps(boxes)).toEqual([]);
    expect(links.every((one) => one.points.length > 1)).toBe(true);
  });
  it('does not route what spans many layers of a large graph, and keeps it', () => {
    const ids = Array.from({ length: SMALL + 10 }, (_, at) => `n${at}`);
    const chain = ids.slice(1).map((id, at) => ({ from: ids[at]!, to: id }));
    const long = { from: ids[0]!, to: ids[SPAN_MAX + 5]! };
    const { links, boxes } = layered(ids.map(box), [...chain, long]);
    expect(links.length).toBe(chain.length + 1);
    expect(links.filter((one) => one.points.length === 0)).toEqual([{ ...long, points: [] }]);
    expect(overlaps(boxes)).toEqual([]);
  });
  it('lays out two thousand boxes, none upon another', () => {
    const ids = Array.from({ length: 2000 }, (_, at) => `n${at}`);
    const links = ids.slice(1).flatMap((id, at) => {
      const near = { from: ids[at - (at % 4)]!, to: id };
      return at % 7 === 0 && at > 300 ? [near, { from: ids[at - 300]!, to: id }] : [near];
    });
    const { boxes, links: routed } = layered(ids.map(box), links);
    expect(boxes.length).toBe(2000);
    expect(routed.length).toBe(links.length);
    const layer = new Map<number, typeof boxes>();
    for (const one of boxes) layer.set(one.y, [...(layer.get(one.y) ?? []), one]);
    for (const row of layer.values()) expect(overlaps(row)).toEqual([]);
    const y = new Map(boxes.map((one) => [one.id, one.y]));
    expect(links.filter((one) => y.get(one.from)! >= y.get(one.to)!)).toEqual([]);
  }, 60_000);
});
