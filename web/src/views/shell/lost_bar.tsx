/* SPDX-License-Identifier: Apache-2.0 */
/* The server does not answer: since when, and when it is asked again. */
import { useEffect, useState } from 'preact/hooks';
import { lostSince, slowSince } from '../../data/api';
import { nextTry, tryNow } from '../../data/events';
import { THIN } from '../../model/numbers';

/* A lost connection that is back within this time is not worth a word. */
const PATIENCE_MS = 300;

/* The oldest of the questions that wait: they go on waiting, and the page stays usable. */
function SlowBar() {
  const slow = slowSince.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (slow.size === 0) return;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [slow.size === 0]);
  if (slow.size === 0) return null;
  const what = slow.size === 1 ? 'a question' : `${slow.size} questions`;
  const seconds = Math.floor((Date.now() - Math.min(...slow)) / 1000);
  return (
    <div class="bar" role="status">
      {`The server has been working on ${what} for ${seconds}${THIN}s; the answer comes by itself.`}
    </div>
  );
}

export function LostBar() {
  const since = lostSince.value;
  const at = nextTry.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => tick((count) => count + 1), 250);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null || Date.now() - since.getTime() < PATIENCE_MS) return <SlowBar />;
  const seconds = at === null ? 0 : Math.max(0, Math.ceil((at - Date.now()) / 1000));
  return (
    <div class="bar">
      <span class="error" role="alert">
        No answer from the server since {since.toLocaleTimeString()}; what you see is whole.
      </span>
      <span class="countdown">{at === null ? 'Asking now.' : `Next try in ${seconds}${THIN}s.`}</span>
      <button class="framed" onClick={() => void tryNow()}>
        Now
      </button>
    </div>
  );
}
