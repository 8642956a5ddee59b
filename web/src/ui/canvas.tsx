/* SPDX-License-Identifier: Apache-2.0 */
/* A canvas as wide as its place, painted when what it shows, its size or the theme changed. */
import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from './settings';
import { onResize } from './size';

interface Props {
  height: number | 'fill';
  label: string;
  paint: (canvas: HTMLCanvasElement, width: number, height: number) => void;
  onMove?: (x: number, y: number, event: PointerEvent) => void;
  onLeave?: () => void;
  onClick?: (x: number, y: number, event: MouseEvent) => void;
  onSize?: (width: number, height: number) => void;
}

export function Canvas({ height, label, paint, onMove, onLeave, onClick, onSize }: Props) {
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
      role="img"
      aria-label={label}
      data-canvas-tip
      style={height === 'fill' ? { height: '100%' } : { height: `${height}px` }}
      onPointerMove={onMove && ((event) => onMove(...at(event), event))}
      onPointerLeave={onLeave}
      onClick={onClick && ((event) => onClick(...at(event), event))}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}
