/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of tracks at the left: fold by click, move by arrow keys, reorder by dragging; pin, hide
 * and only-this stand at the right of the name below the pointer, or that a finger or the keys have chosen. */
import { computed } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cutMiddle, shown } from '../../model/cut';
import type { Band } from '../../model/layout';
import { Icon } from '../../ui/icons';
import { hideTrack, moveTrack, onlyThis, siblingsOf, togglePin } from './arrange';
import { trackMenu } from './menus';
import type { TimelineState } from './state';

const NAME_ROW = 24;
const DRAG_PIXELS_MIN = 6;
const PAGE_PIXELS = 480; // by which names are put in as they scroll into sight
/* Pixels of a letter, on the wide side. */
const LETTER = 7.2;
const BOLD_LETTER = 8.2;

interface RowProps {
  state: TimelineState;
  band: Band;
  width: number;
  current: boolean;
  onFocus: () => void;
  onDrag: (event: PointerEvent) => boolean; // true: it was a drag, no click
}

function Tools({ band, held }: { band: Band; held: boolean }) {
  const { node } = band;
  const tool = (words: string, icon: 'pin' | 'hide' | 'only', run: () => void) => (
    <button
      class="bare"
      tabIndex={held ? 0 : -1}
      aria-label={`${words} ${shown(node.name)}`}
      data-tip={words}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation();
        run();
      }}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <span class="track-tools">
      {node.track && tool(band.pinned ? 'Unpin' : 'Pin', 'pin', () => togglePin(node.id))}
      {tool('Hide', 'hide', () => hideTrack(node.id))}
      {tool('Only', 'only', () => onlyThis(band))}
    </span>
  );
}

function NameRow({ state, band, width, current, onFocus, onDrag }: RowProps) {
  const { node } = band;
  const level = Math.min(4, band.level);
  const letters = Math.floor((width - 40 - 12 * level) / (node.children.length > 0 ? BOLD_LETTER : LETTER));
  const height = Math.min(band.height, Math.max(NAME_ROW, 20));
  const text = cutMiddle(shown(band.label), letters);
  const dragged = useRef(false);
  const [under, setUnder] = useState(false); // the pointer
  const [held, setHeld] = useState(false); // by the focus; that of a mouse chooses nothing
  const touched = useRef(false);
  const hasTools = under || held; // whose words are not the row's
  return (
    <div
      class={`track-name level-${level}${node.children.length > 0 ? ' group' : ''}${band.pinned ? ' pinned' : ''}`}
      role="treeitem"
      aria-level={band.level}
      aria-setsize={band.siblings}
      aria-posinset={band.position}
      aria-label={hasTools ? text : undefined}
      aria-expanded={band.foldable ? band.open : undefined}
      tabIndex={current ? 0 : -1}
      data-id={node.id}
      style={{ top: `${band.y}px`, height: `${height}px` }}
      onPointerEnter={(event) => setUnder(event.pointerType !== 'touch')}
      onPointerLeave={() => setUnder(false)} // a finger leaves before its click
      onFocusIn={(event) => setHeld(touched.current || (event.target as Element).matches(':focus-visible'))}
      onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setHeld(false)}
      onPointerDown={(event) => {
        dragged.current = false;
        touched.current = event.pointerType === 'touch';
        const element = event.currentTarget;
        if (event.button !== 0) return;
        element.setPointerCapture(event.pointerId);
        element.onpointermove = (move) => {
          if (!dragged.current && Math.abs(move.clientY - event.clientY) < DRAG_PIXELS_MIN) return;
          dragged.current = true;
          onDrag(move);
        };
        element.onpointerup = element.onpointercancel = (up) => {
          element.onpointermove = element.onpointerup = element.onpointercancel = null;
          if (dragged.current) onDrag(up);
        };
      }}
      onClick={() => {
        if (dragged.current) return;
        onFocus();
        if (band.foldable) state.toggle(node.id);
      }}
      onContextMenu={(event) => {
        event.preventDefault();
        onFocus();
        const box = event.currentTarget.getBoundingClientRect();
        const byKey = event.clientX === 0 && event.clientY === 0;
        trackMenu(state, band, byKey ? box.left + 24 : event.clientX, byKey ? box.bottom : event.clientY);
      }}
      data-tip={shown(band.label)}
    >
      {band.foldable ? <Icon name={band.open ? 'down' : 'right'} /> : <span class="no-icon" />}
      <bdi class="cut">{text}</bdi>
      {hasTools && <Tools band={band} held={held} />}
    </div>
  );
}

interface Drag {
  band: Band;
  to: number; // place among the siblings
  y: number; // of the line that shows it
}

/* Where a dragged name would land: before the first sibling whose middle is below the pointer. */
function landing(state: TimelineState, band: Band, y: number): Drag {
  const siblings = siblingsOf(state, band);
  const others = siblings.filter((one) => one !== band);
  const found = others.findIndex((one) => one.y + Math.min(one.height, NAME_ROW) / 2 > y);
  const to = found < 0 ? others.length : found;
  const last = siblings.at(-1)!;
  return { band, to, y: others[to]?.y ?? last.y + last.height };
}

/* Pages of the layout on the screen, and one around them: of a thousand tracks only those are in the document. */
function usePage(state: TimelineState): { top: number; bottom: number } {
  const first = useMemo(() => computed(() => Math.floor(state.scrollTop.value / PAGE_PIXELS)), [state]).value;
  const height = state.size.value.height || innerHeight;
  return { top: (first - 1) * PAGE_PIXELS, bottom: (first + 2) * PAGE_PIXELS + height };
}

export function TrackNames({ state, width }: { state: TimelineState; width: number }) {
  const { bands, height } = state.layout.value;
  const stuck = state.stuck.value;
  const page = usePage(state);
  const [current, setCurrent] = useState<string | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const active =
    current !== null && bands.some((band) => band.node.id === current) ? current : (bands[0]?.node.id ?? null);

  // With the row itself: put off, it would be done before the row that was moved to is drawn.
  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    tree.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')?.focus();
  });

  const dragOf =
    (band: Band) =>
    (event: PointerEvent): boolean => {
      const box = tree.current!.getBoundingClientRect();
      const place = landing(state, band, event.clientY - box.top - (band.y < stuck ? state.scrollTop.value : 0));
      const ends = event.type !== 'pointermove';
      setDrag(ends ? null : place);
      if (event.type === 'pointerup' && place.to !== siblingsOf(state, band).indexOf(band))
        moveTrack(state, band, place.to);
      return true;
    };

  const key = (event: KeyboardEvent): void => {
    const index = bands.findIndex((band) => band.node.id === active);
    const band = bands[index];
    if (!band) return;
    const to = (next: number): void => {
      const target = bands[Math.min(bands.length - 1, Math.max(0, next))]!;
      moved.current = true;
      setCurrent(target.node.id);
    };
    const actions: Record<string, () => void> = {
      ArrowDown: () => to(index + 1),
      ArrowUp: () => to(index - 1),
      Home: () => to(0),
      End: () => to(bands.length - 1),
      ArrowRight: () => (band.foldable && !band.open ? state.toggle(band.node.id) : to(index + 1)),
      ArrowLeft: () =>
        band.open && band.foldable
          ? state.toggle(band.node.id)
          : to(bands.findIndex((one) => one.node.children.includes(band.node))),
      Enter: () => band.foldable && state.toggle(band.node.id),
    };
    const action = actions[event.key];
    if (!action || (event.key === 'Enter' && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  const row = (band: Band) => (
    <NameRow
      key={band.node.id}
      state={state}
      band={band}
      width={width}
      current={band.node.id === active}
      onFocus={() => setCurrent(band.node.id)}
      onDrag={dragOf(band)}
    />
  );
  return (
    <div
      ref={tree}
      class="track-names"
      role="tree"
      aria-label="Tracks"
      style={{ width: `${width}px`, height: `${height}px` }}
      onKeyDown={key}
    >
      {stuck > 0 && (
        <div class="names-stuck" role="group" style={{ height: `${stuck}px` }}>
          {bands.filter((band) => band.y < stuck).map(row)}
        </div>
      )}
      {bands
        .filter(
          (band) =>
            band.y >= stuck && ((band.y + band.height >= page.top && band.y <= page.bottom) || band.node.id === active),
        )
        .map(row)}
      {drag && <div class="drop-line" aria-hidden="true" style={{ top: `${drag.y}px` }} />}
    </div>
  );
}
