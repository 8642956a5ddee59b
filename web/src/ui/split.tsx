/* SPDX-License-Identifier: Apache-2.0 */
/* The bar between two panes: drag, or arrow keys. */
interface Props {
  value: number;
  min: number;
  max: number;
  axis: 'x' | 'y';
  label: string;
  onChange: (value: number) => void;
  invert?: boolean; // the pane lies after the bar
}

export function Split({ value, min, max, axis, label, onChange, invert = false }: Props) {
  const set = (next: number) => onChange(Math.min(max, Math.max(min, Math.round(next))));
  const drag = (event: PointerEvent): void => {
    const bar = event.currentTarget as HTMLElement;
    const begin = axis === 'x' ? event.clientX : event.clientY;
    bar.setPointerCapture(event.pointerId);
    bar.onpointermove = (move) => {
      const by = (axis === 'x' ? move.clientX : move.clientY) - begin;
      set(value + (invert ? -by : by));
    };
    bar.onpointerup = () => {
      bar.onpointermove = null;
    };
  };
  const key = (event: KeyboardEvent): void => {
    const sign = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (sign === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(value + (invert ? -16 : 16) * sign);
  };
  return (
    <div
      class={`split ${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
