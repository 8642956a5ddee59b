/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are drawn only while they are on the screen. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clampOffset, extentOf, revealed, rowsAt } from '../model/virtual';
import { onResize } from './size';

export interface VirtualItem {
  index: number;
  start: number; // pixels from the top of the scroller's content
}

export interface VirtualRows {
  items: readonly VirtualItem[];
  height: number;
  scrollTo: (index: number) => void; // as far as it takes to see the row
  show: (index: number, below: number) => void; // the row `below` pixels under the top
}

const LINE_PIXELS = 40; // of a wheel that counts lines

/* `above`: what stands over the first row and sticks there. */
export function useVirtual(
  scroller: { current: HTMLElement | null },
  count: number,
  rowHeight: number,
  above = 0,
): VirtualRows {
  const [, redraw] = useState(0);
  const at = useRef({ offset: 0, room: 0, written: -1 });
  const extent = extentOf(count, rowHeight, at.current.room);
  const now = useRef(extent);
  now.current = extent;

  const moveTo = (offset: number): void => {
    const state = at.current;
    state.offset = clampOffset(offset, now.current, state.room);
    if (!scroller.current) return;
    scroller.current.scrollTop = state.offset / now.current.factor;
    state.written = scroller.current.scrollTop;
    redraw((tick) => tick + 1);
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || count === 0) return;
    const measure = (): void => {
      const room = Math.max(0, element.clientHeight - above);
      if (room === at.current.room) return;
      at.current.room = room;
      redraw((tick) => tick + 1);
    };
    measure();
    return onResize(element, measure);
  }, [count === 0, above]);

  useEffect(() => {
    const element = scroller.current;
    if (!element || count === 0) return;
    const scrolled = (): void => {
      const state = at.current;
      const { factor } = now.current;
      /* The scroller rounds what was written; only what someone else moved is read back. */
      if (factor > 1 && Math.abs(element.scrollTop - state.written) <= 1) return;
      state.offset = clampOffset(element.scrollTop * factor, now.current, state.room);
      state.written = element.scrollTop;
      redraw((tick) => tick + 1);
    };
    const wheeled = (event: WheelEvent): void => {
      if (now.current.factor <= 1 || event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
      event.preventDefault();
      moveTo(at.current.offset + event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1));
    };
    element.addEventListener('scroll', scrolled, { passive: true });
    element.addEventListener('wheel', wheeled, { passive: false });
    return () => {
      element.removeEventListener('scroll', scrolled);
      element.removeEventListener('wheel', wheeled);
    };
  }, [count === 0]);

  const state = at.current;
  const offset = clampOffset(state.offset, extent, state.room);
  const [first, end] = rowsAt(offset, count, rowHeight, state.room);
  const top = extent.factor > 1 ? Math.max(0, state.written) - offset : 0;
  return {
    items: Array.from({ length: Math.max(0, end - first) }, (_, index) => ({
      index: first + index,
      start: top + (first + index) * rowHeight,
    })),
    height: extent.real,
    scrollTo: (index) => moveTo(revealed(index, at.current.offset, rowHeight, at.current.room)),
    show: (index, below) => moveTo(index * rowHeight - below),
  };
}
