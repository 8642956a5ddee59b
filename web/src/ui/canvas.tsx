/* SPDX-License-Identifier: Apache-2.0 */
/* A canvas as wide as its place, painted when what it shows, its size or the theme changed. */
import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from './settings';
import { onResize } from './size';

/* A canvas that keys move along: a place of `count`, with words for who listens. */
export interface Slider {
  at: number;
  count: number;
  across?: number; // of a picture with lanes: places in one, so that up and down lead to the next
  words: string;
  onKey: (at: number, box: DOMRect) => void;
  onEnter?: () => void;
}

interface Props {
  height: number | 'fill';
  label: string;
  paint: (canvas: HTMLCanvasElement, width: number, height: number) => void;
  onMove?: (x: number, y: number, event: PointerEvent) => void;
  onLeave?: () => void;
  onClick?: (x: number, y: number, event: MouseEvent) => void;
  onSize?: (width: number, height: number) => void;
  slider?: Slider;
}

const FAR = 10; // steps of a page key

function moved(key: string, { at, count, across }: Slider): number | null {
  const far = Math.max(1, Math.round(count / FAR));
  const by: Record<string, number> = {
    ArrowLeft: -1,
    ArrowDown: across ?? -1,
    ArrowRight: 1,
    ArrowUp: across === undefined ? 1 : -across,
    PageDown: -far,
    PageUp: far,
    Home: -count,
    End: count,
  };
  const to = by[key] === undefined ? null : at + by[key];
  const isOutside = to === null || ((key === 'ArrowDown' || key === 'ArrowUp') && (to < 0 || to >= count));
  return isOutside ? null : Math.max(0, Math.min(count - 1, to));
}

/* Of any element that is walked so. */
export const sliderProps = (slider: Slider) => ({
  role: 'slider' as const,
  tabIndex: 0,
  'aria-valuemin': 0,
  'aria-valuemax': slider.count - 1,
  'aria-valuenow': slider.at,
  'aria-valuetext': slider.words,
  onKeyDown: (event: KeyboardEvent) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const at = plain ? moved(event.key, slider) : null;
    if (at !== null) slider.onKey(at, (event.currentTarget as Element).getBoundingClientRect());
    else if (plain && event.key === 'Enter' && slider.onEnter) slider.onEnter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  },
});

export function Canvas({ height, label, paint, onMove, onLeave, onClick, onSize, slider }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const painter = useRef(paint);
  painter.current = paint;

  useEffect(() => {
    const element = box.current!;
    return onResize(element, () => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
      onSize?.(element.clientWidth, element.clientHeight);
    });
  }, []);
  useEffect(
    () =>
      effect(() => {
        void theme.value;
        if (size.width > 0 && canvas.current) painter.current(canvas.current, size.width, size.height);
      }),
    [size, paint],
  );
  const at = (event: MouseEvent): [number, number] => {
    const rect = box.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  return (
    <div
      ref={box}
      class="canvas-box"
      {...(slider ? sliderProps(slider) : { role: 'img' as const })}
      aria-label={label}
      data-canvas-tip
      style={height === 'fill' ? { height: '100%' } : { height: `${height}px` }}
      onPointerMove={onMove && ((event) => onMove(...at(event), event))}
      onPointerLeave={onLeave}
      onBlur={slider && onLeave}
      onClick={onClick && ((event) => onClick(...at(event), event))}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}
