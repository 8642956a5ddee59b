/* SPDX-License-Identifier: Apache-2.0 */
/* A word that is typed: on the screen at once, in the address after a pause. What the address says
 * besides is taken over; the echo of what was typed is not, for more may have been typed since. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, query } from '../data/place';

const PAUSE_MS = 300;

export function useTyped(key: string): [string, (text: string) => void] {
  const asked = query.value[key] ?? '';
  const [text, set] = useState(asked);
  const known = useRef(asked);
  useEffect(() => {
    if (asked !== known.current) set(asked);
    known.current = asked;
  }, [asked]);
  useEffect(() => {
    const timer = setTimeout(() => {
      known.current = text;
      go({ [key]: text || null }, 'replace');
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, set];
}
