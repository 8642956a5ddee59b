/* Rows that are drawn only while they are on the screen (tanstack-virtual behind a hook). */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualItem } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/* Browsers stop near 17 million pixels. */
const HEIGHT_MAX = 12_000_000;

export interface VirtualRows {
  items: readonly VirtualItem[];
  height: number;
  scrollTo: (index: number) => void;
}

export function useVirtual(scroller: { current: HTMLElement | null }, count: number, rowHeight: number): VirtualRows {
  const [, redraw] = useState(0);
  const size = Math.min(rowHeight, HEIGHT_MAX / Math.max(1, count));
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((tick) => tick + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [count, size]);
  return { items: virtualizer.getVirtualItems(), height: virtualizer.getTotalSize(), scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }) };
}
