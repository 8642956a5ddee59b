/* SPDX-License-Identifier: Apache-2.0 */
import { stretchesOf, TileStore } from '../../../web/src/data/tile_store';

afterEach(() => void vi.unstubAllGlobals());

test('when the last request is cancelled, who shows that one is on its way hears of it', () => {
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  let told = 0;
  const store = new TileStore('r', 'c', () => void told++);
  store.want([{ rows: [{ track: '1', depth: 0 }], level: 20, from: 0, to: 1 }]);
  expect([store.loading, told]).toEqual([true, 0]);
  store.want([]);
  expect([store.loading, told]).toEqual([false, 1]);
  store.want([]);
  expect(told).toBe(1);
});

test('what lies between two missing tiles is not asked for again', () => {
  expect(stretchesOf([])).toEqual([]);
  expect(stretchesOf([-2, 2])).toEqual([
    [-2, -1],
    [2, 3],
  ]);
  expect(stretchesOf([3, 4, 5, 8])).toEqual([
    [3, 6],
    [8, 9],
  ]);
  expect(stretchesOf(Array.from({ length: 17 }, (_, at) => at))).toEqual([
    [0, 16],
    [16, 17],
  ]);
});

test('the rest is asked for once the screen is painted', () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (address: string) => (asked.push(address), new Promise(() => {})));
  const store = new TileStore('r', 'c', () => undefined);
  const rows = [{ track: '1', depth: 0 as const }];
  store.want([], [{ rows, level: 20, from: 0, to: 1 }]);
  expect(asked.length).toBe(1);
  store.want(
    [{ rows, level: 18, from: 0, to: 1 }],
    [
      { rows, level: 20, from: 0, to: 1 },
      { rows, level: 19, from: 0, to: 1 },
    ],
  );
  expect(asked.length).toBe(2);
  expect(asked[1]).toContain('level=18');
});
