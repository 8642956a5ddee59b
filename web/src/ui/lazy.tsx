/* SPDX-License-Identifier: Apache-2.0 */
/* A view whose script comes when it is first opened: what few pages need, no page waits for. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failed } from './states';

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [turn, again] = useState(0);
    const [error, fail] = useState<Error | null>(null);
    useEffect(() => {
      if (loaded !== null) return;
      let gone = false;
      load().then(
        (view) => {
          loaded = view;
          if (!gone) again(-1);
        },
        (reason: Error) => !gone && fail(reason),
      );
      return () => {
        gone = true;
      };
    }, [Math.max(0, turn)]);
    if (loaded !== null) {
      const View = loaded;
      return <View {...props} />;
    }
    if (error === null) return null;
    return (
      <Failed
        error={error}
        onRetry={() => {
          fail(null);
          again(turn + 1);
        }}
      />
    );
  };
}
