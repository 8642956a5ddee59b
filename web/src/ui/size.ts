/* SPDX-License-Identifier: Apache-2.0 */
/* Calls when an element has another size, and once at first; returns what ends that. */
export function onResize(element: Element, then: () => void): () => void {
  const watch = new ResizeObserver(then);
  watch.observe(element);
  return () => watch.disconnect();
}
