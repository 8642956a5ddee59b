/* SPDX-License-Identifier: Apache-2.0 */
/* The graph itself: a canvas of what is on the screen, however deep the tree; zoom glides. */
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { FLAME_ROW, paintFlame, rowTop } from '../../draw/flame';
import { readTokens } from '../../draw/tokens';
import { shown } from '../../model/cut';
import { nodeAt, standingOf, type FlameLayout } from '../../model/flame_layout';
import { count, share, time, toNumber } from '../../model/numbers';
import { shortPlace } from '../../model/source';
import { theme } from '../../ui/settings';
import { Name } from '../../ui/text';
import { hideTip, showTip } from '../../ui/tooltip';
import { onResize } from '../../ui/size';

const ZOOM_MS = 120;

function Tip({ layout, index }: { layout: FlameLayout; index: number }) {
  const node = layout.nodes[index]!;
  const of = toNumber(layout.nodes[0]!.total_ps);
  return (
    <>
      <Name text={node.name} />
      <br />
      <strong>{layout.amount.say(node.total_ps)}</strong>
      {`, ${share(of === 0 ? 0 : toNumber(node.total_ps) / of)}; self `}
      {layout.amount.say(node.self_ps)}
      <br />
      <span class="faint">
        {[...(node.count > 0 ? [`${count(node.count)} times`] : []), ...(node.kind ? [node.kind] : [])].join(' · ')}
        {node.first_ps !== null && node.first_ps !== undefined && ` · first at ${time(node.first_ps)}`}
        {node.file && ` · ${shown(shortPlace(node.file, node.line))}`}
      </span>
    </>
  );
}

/* Parent, first child, neighbours: arrows walk the tree as it is drawn. */
export function walkTo(layout: FlameLayout, from: number, key: string, flipped = false): number {
  if (key === (flipped ? 'ArrowDown' : 'ArrowUp')) return Math.max(0, layout.parent[from]!);
  if (key === (flipped ? 'ArrowUp' : 'ArrowDown')) return layout.next[from]! > from + 1 ? from + 1 : from;
  const parent = layout.parent[from]!;
  if (parent < 0) return from;
  if (key === 'ArrowRight') return layout.next[from]! < layout.next[parent]! ? layout.next[from]! : from;
  let before = parent + 1;
  while (before < from && layout.next[before]! < from) before = layout.next[before]!;
  return before < from ? before : from;
}

/* The part of the root's width that fills the screen; glides to where the zoom is. */
function useWindow(layout: FlameLayout, zoom: number) {
  const now = useMemo(() => signal({ x: layout.x[zoom]!, width: layout.width[zoom]! }), [layout]);
  useEffect(() => {
    const from = now.peek();
    const to = { x: layout.x[zoom]!, width: layout.width[zoom]! };
    if (from.x === to.x && from.width === to.width) return;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return void (now.value = to);
    const begin = performance.now();
    let frame = 0;
    const step = (at: number): void => {
      const progress = 1 - (1 - Math.min(1, (at - begin) / ZOOM_MS)) ** 3;
      now.value =
        progress >= 1
          ? to
          : { x: from.x + (to.x - from.x) * progress, width: from.width + (to.width - from.width) * progress };
      if (progress < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [layout, zoom]);
  return now;
}

interface Props {
  layout: FlameLayout;
  zoom: number;
  focus: number | null;
  lit: ((name: string) => boolean) | null;
  flipped?: boolean; // the root is below
  label: string;
  onFocus: (index: number) => void;
  onZoom: (index: number) => void;
}

export function Graph({ layout, zoom, focus, lit, flipped = false, label, onFocus, onZoom }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const part = useWindow(layout, zoom);
  const hover = useMemo(() => signal<number | null>(null), [layout]);
  const place = useMemo(() => signal({ width: 0, height: 0, top: 0 }), []);
  const said = focus ?? zoom;
  const standing = standingOf(layout, said);

  useEffect(() => {
    const element = scroller.current!;
    const measure = () =>
      (place.value = { width: element.clientWidth, height: element.clientHeight, top: element.scrollTop });
    const end = onResize(element, measure);
    element.addEventListener('scroll', measure, { passive: true });
    return () => (end(), element.removeEventListener('scroll', measure));
  }, [place]);
  useEffect(() => {
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      const { width, height, top } = place.value;
      if (width === 0 || !canvas.current || !scroller.current) return; // the page may be left before the frame comes
      const begin = performance.now();
      const painted = paintFlame(canvas.current, {
        layout,
        part: part.value,
        width,
        height,
        ratio: devicePixelRatio,
        top,
        flipped,
        hover: hover.value,
        focus,
        lit,
        tokens: readTokens(),
      });
      Object.assign(scroller.current.dataset, { painted, script: (performance.now() - begin).toFixed(1) });
    };
    const stop = effect(() => {
      void [place.value, part.value, hover.value, theme.value];
      frame ||= requestAnimationFrame(paint);
    });
    return () => (stop(), cancelAnimationFrame(frame));
  }, [layout, focus, lit, flipped, place, part, hover]);
  useEffect(() => {
    if (flipped) scroller.current!.scrollTop = scroller.current!.scrollHeight; // where the root is
  }, [layout, flipped]);
  useEffect(() => {
    if (focus === null) return;
    const element = scroller.current!;
    const y = rowTop(layout, layout.depth[focus]!, flipped);
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + FLAME_ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = y + FLAME_ROW - element.clientHeight;
  }, [layout, focus, flipped]);

  const at = (event: MouseEvent): number | null => {
    const box = scroller.current!.getBoundingClientRect();
    const { x, width } = part.value;
    const row = Math.floor((event.clientY - box.top + place.value.top) / FLAME_ROW);
    return nodeAt(
      layout,
      x + ((event.clientX - box.left) / place.value.width) * width,
      flipped ? layout.depthCount - 1 - row : row,
    );
  };
  const key = (event: KeyboardEvent): void => {
    if (/^Arrow/.test(event.key)) onFocus(walkTo(layout, focus ?? zoom, event.key, flipped));
    else if (event.key === 'Enter') onZoom(focus ?? zoom);
    else if (event.key === 'Escape' && zoom > 0) onZoom(Math.max(0, layout.parent[zoom]!));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={scroller}
      class="flame"
      tabIndex={0}
      role="application"
      aria-roledescription="flame graph"
      aria-label={label}
      aria-activedescendant="flame-focus"
      aria-describedby="flame-keys"
      data-canvas-tip
      onKeyDown={key}
      onPointerMove={(event) => {
        hover.value = at(event);
        if (hover.value === null) hideTip();
        else showTip(<Tip layout={layout} index={hover.value} />, event.clientX, event.clientY);
      }}
      onPointerLeave={() => {
        hover.value = null;
        hideTip();
      }}
      onClick={(event) => {
        const index = at(event);
        if (index !== null) onZoom(index);
      }}
    >
      <div class="flame-inner" style={{ height: `${FLAME_ROW * layout.depthCount}px` }}>
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <span id="flame-focus" class="hidden-text" aria-live="polite">
        {`${shown(layout.nodes[said]!.name)}, ${layout.amount.say(layout.nodes[said]!.total_ps)}, ` +
          `level ${standing.level}, ${standing.place} of ${standing.of}`}
      </span>
      <span id="flame-keys" class="hidden-text">
        Arrows walk the tree, Enter zooms, Escape goes up.
      </span>
    </div>
  );
}
