/* SPDX-License-Identifier: Apache-2.0 */
/* One menu at a point of the page: right click, long press, or the menu key. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { registerActions } from './keys';
import { muteTips } from './tooltip';

export interface MenuItem {
  words: string;
  hint?: string; // its key
  checked?: boolean; // one of several that exclude each other
  run: () => void;
}

interface Shown {
  label: string;
  x: number;
  y: number;
  items: readonly MenuItem[];
  back: HTMLElement | null; // what had the focus
}

const shown = signal<Shown | null>(null);

export function openMenu(label: string, x: number, y: number, items: readonly MenuItem[]): void {
  muteTips(items.length > 0);
  shown.value = items.length === 0 ? null : { label, x, y, items, back: document.activeElement as HTMLElement | null };
}

function close(): void {
  muteTips(false);
  shown.value?.back?.focus({ preventScroll: true });
  shown.value = null;
}

export function ContextMenu() {
  const box = useRef<HTMLDivElement>(null);
  const now = shown.value;
  /* Also when the focus went elsewhere. */
  useEffect(() => (now ? registerActions({ escape: close }) : undefined), [now]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !now) return;
    element.style.left = `${Math.max(4, Math.min(now.x, innerWidth - element.offsetWidth - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(now.y, innerHeight - element.offsetHeight - 4))}px`;
    element.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
  }, [now]);
  if (!now) return null;
  const key = (event: KeyboardEvent): void => {
    const items = [...box.current!.querySelectorAll<HTMLElement>('[role^=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const jumps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + items.length,
      Home: 0,
      End: items.length - 1,
    };
    if (event.key in jumps) items[jumps[event.key]! % items.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (event.key !== 'Enter' && event.key !== ' ') return event.stopPropagation();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div
        class="veil"
        onPointerDown={close}
        onContextMenu={(event) => {
          event.preventDefault();
          close();
        }}
      />
      <div
        ref={box}
        class="popover"
        role="menu"
        aria-label={now.label}
        onKeyDown={key}
        onContextMenu={(event) => event.preventDefault()}
      >
        {now.items.map((item) => (
          <button
            key={item.words}
            role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
            aria-checked={item.checked}
            tabIndex={-1}
            onClick={() => {
              close();
              item.run();
            }}
          >
            {item.words}
            {item.hint && <kbd>{item.hint}</kbd>}
          </button>
        ))}
      </div>
    </>
  );
}
