/* SPDX-License-Identifier: Apache-2.0 */
/* A picture's places, from a worker; another picture ends the work on the one before. */
import { useEffect, useState } from 'preact/hooks';
import type { PictureLevel } from '../../../model/pictures/hlo_picture';
import type { Placement } from '../../../model/pictures/hlo_placed';
import type { LayoutAnswer } from './layout_worker';
import layoutWorker from './layout_worker.ts?worker&url';

interface Policy {
  createScriptURL: (url: string) => string;
}

/* The page's policy lets no plain text become a script's address: this one, which the build wrote, may. */
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy } };
const policy = trustedTypes?.createPolicy('layout-worker', { createScriptURL: (url) => url });

interface Known {
  level: PictureLevel;
  placement: Placement | null;
  error: Error | null;
}

export function usePlacement(level: PictureLevel | null): Known | null {
  const [known, know] = useState<Known | null>(null);
  useEffect(() => {
    if (level === null) return;
    const worker = new Worker(policy?.createScriptURL(layoutWorker) ?? layoutWorker, { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      know({
        level,
        placement: data.placement ?? null,
        error: data.error === undefined ? null : new Error(`The picture cannot be laid out: ${data.error}`),
      });
      worker.terminate();
    };
    worker.onerror = () => know({ level, placement: null, error: new Error('The picture cannot be laid out.') });
    worker.postMessage(level);
    return () => worker.terminate();
  }, [level]);
  return known?.level === level ? known : null;
}
