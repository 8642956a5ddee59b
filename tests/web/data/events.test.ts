/* SPDX-License-Identifier: Apache-2.0 */
/* A server with many runs greets with one event for each: what shows them is drawn a few times, not once for each. */
const RUNS = 1000;

type Told = (event: { data: string }) => void;

class Stream {
  static opened: Stream | null = null;
  readonly heard = new Map<string, Told>();
  constructor() {
    Stream.opened = this;
  }
  addEventListener(what: string, told: Told): void {
    this.heard.set(what, told);
  }
  close(): void {}
}

function stubBrowser(): void {
  vi.useFakeTimers();
  const nothing = (): void => undefined;
  vi.stubGlobal('location', { href: 'http://localhost/' });
  vi.stubGlobal('document', { hidden: false, addEventListener: nothing });
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('addEventListener', nothing);
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      postMessage = nothing;
    },
  );
  vi.stubGlobal('EventSource', Stream);
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('many runs told at once change what is shown once', async () => {
  stubBrowser();
  const { listen, runEvents } = await import('../../../web/src/data/events');
  let changes = -1; // a subscription begins with what there is
  runEvents.subscribe(() => void changes++);
  listen();
  for (let id = 0; id < RUNS; id++)
    Stream.opened!.heard.get('run')!({ data: JSON.stringify({ id: `r${id}`, state: 'indexing' }) });
  Stream.opened!.heard.get('run')!({ data: JSON.stringify({ id: 'r7', state: 'ready' }) });
  vi.runAllTimers();
  expect(changes).toBe(1);
  expect(runEvents.value.size).toBe(RUNS);
  expect(runEvents.value.get('r7')).toEqual({ id: 'r7', state: 'ready' });
});
