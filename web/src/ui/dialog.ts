/* SPDX-License-Identifier: Apache-2.0 */
/* A modal dialog that stands while `open` is true.
 *
 * Its `close` event comes a task later. One that we asked for may come when the dialog is open
 * again, so only closings by the browser (Esc) are told to `closed`. What the keys of the page see
 * is always what stands: the dialog follows `open` before the next key comes.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';

export function useDialog(open: boolean, closed: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  const ours = useRef(false);
  useLayoutEffect(() => {
    if (open) ref.current?.showModal();
    else if (ref.current?.open) {
      ours.current = true;
      ref.current.close();
    }
  }, [open]);
  const onCancel = (): void => closed();
  const onClose = (): void => {
    if (!ours.current) closed();
    ours.current = false;
  };
  return { ref, onCancel, onClose };
}
