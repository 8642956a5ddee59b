/* SPDX-License-Identifier: Apache-2.0 */
/* One tooltip for the page: `show(content, x, y)` for canvases, `data-tip` for everything else. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Tip {
  content: ComponentChildren;
  x: number;
  y: number;
}

const tip = signal<Tip | null>(null);
const OFF_POINTER = 12;
const DELAY_MS = 80;

/* Nothing is told over a menu, whatever arrives late. */
let muted = false;
let timer = 0; // what the pointer rests on is told a moment later, unless something newer is told

export function muteTips(on: boolean): void {
  muted = on;
  if (on) tip.value = null;
}

export function showTip(content: ComponentChildren, x: number, y: number): void {
  clearTimeout(timer);
  if (!muted) tip.value = { content, x, y };
}

export function hideTip(): boolean {
  const was = tip.value !== null;
  tip.value = null;
  return was;
}

addEventListener('pointerover', (event) => {
  const target = (event.target as Element | null)?.closest?.<HTMLElement>('[data-tip]');
  clearTimeout(timer);
  if (!target) {
    if (tip.value && !(event.target as Element | null)?.closest?.('[data-canvas-tip],.tooltip')) tip.value = null;
    return;
  }
  timer = window.setTimeout(() => showTip(target.dataset.tip, event.clientX, event.clientY), DELAY_MS);
});

export function Tooltip() {
  const box = useRef<HTMLDivElement>(null);
  const now = tip.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !now) return;
    const { width, height } = element.getBoundingClientRect();
    const left = now.x + OFF_POINTER + width > innerWidth ? now.x - OFF_POINTER - width : now.x + OFF_POINTER;
    const top = now.y + OFF_POINTER + height > innerHeight ? now.y - OFF_POINTER - height : now.y + OFF_POINTER;
    element.style.left = `${Math.max(4, left)}px`;
    element.style.top = `${Math.max(4, top)}px`;
  });
  if (!now) return null;
  return (
    <div ref={box} class="tooltip still" role="tooltip">
      {now.content}
    </div>
  );
}
