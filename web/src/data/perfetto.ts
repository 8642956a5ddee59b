/* SPDX-License-Identifier: Apache-2.0 */
/* Handing a trace to Perfetto's own page, which stays on this machine: the page asks nobody.
 *
 *   click  -> window.open (before anything is awaited, or it is blocked)
 *   PING ... PING -> PONG        every 100 ms, from exactly that window and origin
 *   { perfetto: { buffer, title } }  the buffer is handed over, not copied
 */
import { getBytesCounted, type Params } from './api';

export interface HandOver {
  address: string; // of its page, which may stand below a path
  title: string;
  params: Params;
  onProgress: (words: HandOverState) => void;
}

export type HandOverState =
  { state: 'reading'; bytes: number } | { state: 'waiting' } | { state: 'done' } | { state: 'failed'; message: string };

const PING_MS = 100;
const GIVE_UP_MS = 20_000;

function answered(target: Window, origin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const begin = performance.now();
    const end = (found: boolean): void => {
      clearInterval(timer);
      removeEventListener('message', onMessage);
      resolve(found);
    };
    const onMessage = (event: MessageEvent): void => {
      if (event.origin === origin && event.source === target && event.data === 'PONG') end(true);
    };
    const timer = setInterval(() => {
      if (target.closed || performance.now() - begin > GIVE_UP_MS) end(false);
      else target.postMessage('PING', origin);
    }, PING_MS);
    addEventListener('message', onMessage);
  });
}

/* Call it in the click itself. */
export async function handOver({ address, title, params, onProgress }: HandOver): Promise<void> {
  if (!URL.canParse(address))
    return onProgress({ state: 'failed', message: `${address} is no address: the settings say where Perfetto is.` });
  const target = window.open(address);
  if (!target)
    return onProgress({
      state: 'failed',
      message: 'The browser blocked the new tab. Allow it for this page, or download the trace.',
    });
  const { origin } = new URL(address);
  const pong = answered(target, origin);
  try {
    const buffer = await getBytesCounted('api/trace', params, (bytes) => onProgress({ state: 'reading', bytes }));
    onProgress({ state: 'waiting' });
    if (!(await pong))
      return onProgress({
        state: 'failed',
        message: `${address} did not answer. It may not be reachable from here; download the trace and open it there.`,
      });
    target.postMessage({ perfetto: { buffer, title, fileName: `${title}.json.gz` } }, origin, [buffer]);
    onProgress({ state: 'done' });
  } catch (error) {
    onProgress({ state: 'failed', message: (error as Error).message });
  }
}
