/* The tree of tracks at the left: fold by click, move by arrow keys; one row of names per band. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { cutMiddle, shown } from '../../model/cut';
import type { Band } from '../../model/layout';
import { Icon } from '../../ui/icons';
import type { TimelineState } from './state';

const NAME_ROW = 24;
/* Pixels of a letter, on the wide side. */
const LETTER = 7.2;
const BOLD_LETTER = 8.2;

interface RowProps {
  state: TimelineState;
  band: Band;
  width: number;
  current: boolean;
  onFocus: () => void;
}

function NameRow({ state, band, width, current, onFocus }: RowProps) {
  const { node } = band;
  const letters = Math.floor((width - 40 - 12 * Math.min(4, node.level)) / (node.children.length > 0 ? BOLD_LETTER : LETTER));
  const height = Math.min(band.height, Math.max(NAME_ROW, 20));
  return (
    <div
      class={`track-name level-${Math.min(4, node.level)}${node.children.length > 0 ? ' group' : ''}`}
      role="treeitem" aria-level={node.level} aria-setsize={band.siblings} aria-posinset={band.position}
      aria-expanded={band.foldable ? band.open : undefined} tabIndex={current ? 0 : -1} data-id={node.id}
      style={{ top: `${band.y}px`, height: `${height}px` }}
      onClick={() => {
        onFocus();
        if (band.foldable) state.toggle(node.id);
      }}
      data-tip={shown(node.name)}
    >
      {band.foldable ? <Icon name={band.open ? 'down' : 'right'} /> : <span class="no-icon" />}
      <bdi class="cut">{cutMiddle(shown(node.name), letters)}</bdi>
    </div>
  );
}

export function TrackNames({ state, width }: { state: TimelineState; width: number }) {
  const { bands, height } = state.layout.value;
  const [current, setCurrent] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const active = current !== null && bands.some((band) => band.node.id === current) ? current : (bands[0]?.node.id ?? null);

  useEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    tree.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  });

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
      ArrowLeft: () => (band.open && band.foldable ? state.toggle(band.node.id) : to(bands.findIndex((one) => one.node.children.includes(band.node)))),
      Enter: () => band.foldable && state.toggle(band.node.id),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  return (
    <div ref={tree} class="track-names" role="tree" aria-label="Tracks" style={{ width: `${width}px`, height: `${height}px` }} onKeyDown={key}>
      {bands.map((band) => (
        <NameRow key={band.node.id} state={state} band={band} width={width} current={band.node.id === active} onFocus={() => setCurrent(band.node.id)} />
      ))}
    </div>
  );
}
