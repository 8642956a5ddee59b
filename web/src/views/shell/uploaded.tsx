/* SPDX-License-Identifier: Apache-2.0 */
/* A run that came from a browser: it says so, and goes by two clicks. */
import { useEffect, useState } from 'preact/hooks';
import { go } from '../../data/place';
import { forget } from '../../data/resource';
import type { RunDetails } from '../../data/types';
import { deleteUpload } from '../../data/upload';
import { say } from '../../ui/said';
import { openRun } from './upload';

export function UploadedMark({ run }: { run: RunDetails }) {
  const [asking, ask] = useState(false);
  useEffect(() => ask(false), [run.id]);
  if (!run.uploaded) return null;
  const remove = (): void => {
    deleteUpload(run.id).then(
      () => {
        forget();
        go({ ...openRun(''), view: 'runs' }, 'push');
      },
      (error: Error) => say(error.message),
    );
  };
  return (
    <span class="facts uploaded">
      uploaded ·{' '}
      {asking ? (
        <>
          <button class="bare" autoFocus onClick={remove}>
            delete for good
          </button>
          <button class="bare" onClick={() => ask(false)}>
            keep
          </button>
        </>
      ) : (
        <button class="bare" onClick={() => ask(true)}>
          delete
        </button>
      )}
    </span>
  );
}
