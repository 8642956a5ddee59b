/* SPDX-License-Identifier: Apache-2.0 */
/* The picture that one moves in: dragging and scrolling move it, ctrl + wheel zooms, arrows walk
 * along operands and users. */
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { boxAt, isOnSign, paintGraph, type GraphWindow } from '../../../draw/hlo_graph';
import { readTokens } from '../../../draw/tokens';
import type { Placed, Placement } from '../../../model/pictures/hlo_placed';
import { plural, time } from '../../../model/numbers';
import { registerActions } from '../../../ui/keys';
import { theme } from '../../../ui/settings';
import { onResize } from '../../../ui/size';
import { hideTip, showTip } from '../../../ui/tooltip';

const [SCALE_MIN, SCALE_MAX] = [0.02, 2];
const ZOOM_STEP = 1.25;
const READABLE = 0.6; // of a picture that fits only when smaller, a part is shown
const DRAG_MIN = 4; // pixels, below it a drag is a click

interface Props {
  placement: Placement;
  longest: number;
  focus: string | null; // a box's id
  lit: ((box: Placed) => boolean) | null;
  label: string;
  tip: (box: Placed) => preact.ComponentChildren;
  onFocus: (box: Placed | null) => void;
  onCenter: (box: Placed) => void;
  onOpen: (box: Placed) => void;
}

function fit(placement: Placement, width: number, height: number): GraphWindow {
  const scale = Math.min(1, width / placement.width, height / placement.height);
  return {
    scale: Math.max(SCALE_MIN, scale),
    x: placement.width / 2 - width / 2 / scale,
    y: placement.height / 2 - height / 2 / scale,
  };
}

function around(box: Placed, scale: number, width: number, height: number): GraphWindow {
  return {
    scale,
    x: box.x + Math.min(box.width, width / scale) / 2 - width / 2 / scale,
    y: box.y + Math.min(box.height, height / scale) / 2 - height / 2 / scale,
  };
}

/* The box that an arrow leads to: up to an operand, down to a user, sideways in the same layer. */
function walkTo(placement: Placement, from: Placed, key: string): Placed | null {
  const of = (id: string): Placed => placement.boxes.find((one) => one.box.id === id)!;
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const link = placement.links.find((one) => (key === 'ArrowUp' ? one.to : one.from) === from.box.id);
    return link ? of(key === 'ArrowUp' ? link.from : link.to) : null;
  }
  const middle = (one: Placed): number => one.y + one.height / 2;
  const beside = placement.boxes
    .filter((one) => one !== from && one.depth === from.depth && Math.abs(middle(one) - middle(from)) < 30)
    .filter((one) => (key === 'ArrowRight' ? one.x > from.x : one.x < from.x));
  return beside.reduce<Placed | null>(
    (best, one) => (best === null || Math.abs(one.x - from.x) < Math.abs(best.x - from.x) ? one : best),
    null,
  );
}

export function GraphCanvas({ placement, longest, focus, lit, label, tip, onFocus, onCenter, onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useMemo(() => signal({ width: 0, height: 0 }), []);
  const window = useMemo(() => signal<GraphWindow | null>(null), [placement]);
  const hover = useMemo(() => signal<Placed | null>(null), [placement]);
  const drag = useRef<{ x: number; y: number; from: GraphWindow; moved: boolean } | null>(null);
  const focused = placement.boxes.find((one) => one.box.id === focus) ?? null;

  useEffect(() => {
    const element = box.current!;
    return onResize(element, () => (size.value = { width: element.clientWidth, height: element.clientHeight }));
  }, [size]);
  useEffect(() => {
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      const { width, height } = size.value;
      if (width === 0 || !canvas.current || !box.current) return;
      if (window.value === null) {
        const whole = fit(placement, width, height);
        const first = focused ?? placement.boxes.find((one) => one.box.self === longest) ?? placement.boxes[0]!;
        window.value = whole.scale >= READABLE ? whole : around(first, 0.9, width, height);
      }
      const painted = paintGraph(canvas.current, {
        placement,
        window: window.value,
        width,
        height,
        ratio: devicePixelRatio,
        longest,
        focus,
        hover: hover.value?.box.id ?? null,
        lit,
        tokens: readTokens(),
      });
      Object.assign(box.current.dataset, { painted, scale: window.value.scale.toFixed(3) });
    };
    const stop = effect(() => {
      void [size.value, window.value, hover.value, theme.value];
      frame ||= requestAnimationFrame(paint);
    });
    return () => (stop(), cancelAnimationFrame(frame));
  }, [placement, longest, focus, lit, window, hover, size]);

  const now = (): GraphWindow => window.value ?? fit(placement, size.value.width, size.value.height);
  const zoom = (factor: number, x = size.value.width / 2, y = size.value.height / 2): void => {
    const from = now();
    const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, from.scale * factor));
    window.value = { scale, x: from.x + x / from.scale - x / scale, y: from.y + y / from.scale - y / scale };
  };
  const show = (one: Placed): void => {
    const { width, height } = size.value;
    const { scale, x, y } = now();
    const isInside = one.x > x && one.x + one.width < x + width / scale && one.y > y && one.y < y + height / scale - 40;
    if (!isInside) window.value = around(one, Math.max(scale, READABLE), width, height);
  };
  const all = (): void => void (window.value = fit(placement, size.value.width, size.value.height));
  useEffect(
    () =>
      registerActions({
        'zoom-in': () => zoom(ZOOM_STEP),
        'zoom-out': () => zoom(1 / ZOOM_STEP),
        'zoom-all': all,
      }),
    [placement],
  );
  useEffect(() => {
    if (focused && window.value !== null) show(focused);
  }, [focused]);

  const at = (event: MouseEvent): { x: number; y: number; found: Placed | null } => {
    const rect = box.current!.getBoundingClientRect();
    const { scale, x, y } = now();
    const [px, py] = [x + (event.clientX - rect.left) / scale, y + (event.clientY - rect.top) / scale];
    return { x: px, y: py, found: boxAt(placement, px, py) };
  };
  const key = (event: KeyboardEvent): void => {
    const from = focused ?? placement.boxes[0]!;
    if (/^Arrow/.test(event.key)) {
      const next = focused === null ? from : walkTo(placement, from, event.key);
      if (next) onFocus(next);
    } else if (event.key === 'Enter' && focused) onCenter(focused);
    else if (event.key === ' ' && focused) onOpen(focused);
    else if (event.key === '+' || event.key === '=') zoom(ZOOM_STEP);
    else if (event.key === '-') zoom(1 / ZOOM_STEP);
    else if (event.key === '0') all();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const links = focused ? placement.links.filter((one) => one.to === focused.box.id).length : 0;
  const users = focused ? placement.links.filter((one) => one.from === focused.box.id).length : 0;
  const took = focused && focused.box.self !== null ? `, ${time(focused.box.self)}` : '';
  const said = focused
    ? `${focused.box.name}, ${focused.box.about}${took}, ${plural(links, 'operand')}, ${plural(users, 'user')}`
    : plural(placement.boxes.length, 'box', 'boxes');
  return (
    <div class="hlo-picture-frame">
      <div
        ref={box}
        class="hlo-picture"
        tabIndex={0}
        role="application"
        aria-roledescription="graph"
        aria-label={label}
        aria-activedescendant="hlo-picture-focus"
        aria-describedby="hlo-picture-keys"
        data-canvas-tip
        onKeyDown={key}
        onWheel={(event) => {
          event.preventDefault();
          if (event.ctrlKey || event.metaKey) {
            const rect = box.current!.getBoundingClientRect();
            zoom(Math.exp(-event.deltaY / 300), event.clientX - rect.left, event.clientY - rect.top);
          } else {
            const from = now();
            const [dx, dy] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
            window.value = { ...from, x: from.x + dx / from.scale, y: from.y + dy / from.scale };
          }
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          drag.current = { x: event.clientX, y: event.clientY, from: now(), moved: false };
          box.current!.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const held = drag.current;
          if (held) {
            const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
            held.moved ||= Math.hypot(dx, dy) > DRAG_MIN;
            if (held.moved) {
              hideTip();
              const { scale, x, y } = held.from;
              window.value = { scale, x: x - dx / scale, y: y - dy / scale };
            }
            return;
          }
          hover.value = at(event).found;
          if (hover.value === null) hideTip();
          else showTip(tip(hover.value), event.clientX, event.clientY);
        }}
        onPointerUp={(event) => {
          const held = drag.current;
          drag.current = null;
          if (!held || held.moved) return;
          const { x, y, found } = at(event);
          if (found && isOnSign(found, x, y)) onOpen(found);
          else onFocus(found);
        }}
        onPointerCancel={() => (drag.current = null)}
        onPointerLeave={() => {
          hover.value = null;
          hideTip();
        }}
        onDblClick={(event) => {
          const { found } = at(event);
          if (found) onCenter(found);
        }}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <span id="hlo-picture-focus" class="hidden-text" aria-live="polite">
          {said}
        </span>
        <span id="hlo-picture-keys" class="hidden-text">
          Up leads to an operand, down to a user, left and right within a layer. Enter centres, space opens a fusion,
          plus and minus zoom, 0 shows all.
        </span>
      </div>
      <div class="hlo-picture-zoom">
        <button aria-label="Zoom in" data-tip="+ or ctrl + wheel" onClick={() => zoom(ZOOM_STEP)}>
          +
        </button>
        <button aria-label="Zoom out" data-tip="−" onClick={() => zoom(1 / ZOOM_STEP)}>
          −
        </button>
        <button data-tip="0" onClick={all}>
          all
        </button>
      </div>
    </div>
  );
}
