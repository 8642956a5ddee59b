/* SPDX-License-Identifier: Apache-2.0 */
/* A button with a list below it. Arrow keys move, Esc closes and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons';

interface Props {
  words: string;
  label?: string; // where there are no words
  children: (close: () => void) => ComponentChildren;
}

export function Menu({ words, label, children }: Props) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open || !list.current || !button.current) return;
    const box = button.current.getBoundingClientRect();
    list.current.style.top = `${box.bottom + 4}px`;
    list.current.style.left = `${Math.max(8, Math.min(box.left, innerWidth - list.current.offsetWidth - 8))}px`;
    list.current.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
  }, [open]);
  const key = (event: KeyboardEvent): void => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      items[(at + (event.key === 'ArrowDown' ? 1 : -1) + items.length) % items.length]?.focus();
    } else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <button
        ref={button}
        aria-label={label}
        data-tip={label}
        class={words === '' ? 'bare' : undefined}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {words}
        <Icon name="down" />
      </button>
      {open && (
        <>
          <div class="veil" onClick={close} />
          <div ref={list} class="popover" role="menu" aria-label={label ?? words} onKeyDown={key}>
            {children(close)}
          </div>
        </>
      )}
    </>
  );
}
