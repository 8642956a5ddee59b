import { TileStore } from '../../web/src/data/tile_store';

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
