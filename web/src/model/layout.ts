/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks as bands below one another.
 *
 *   band   ▾ GPU 0          a group: 24 px, closed it shows its summary
 *            Ops  | rows    a lane: one row of 20 px per depth, closed one summary row
 *            heap ~~~~~     a counter: 48 px
 *
 * Names at the left and the canvas at the right read the same bands.
 */
import type { Track } from '../data/types';
import { toBig, toNumber } from './numbers';

export interface Metrics {
  group: number;
  row: number; // with its gap
  counter: number;
}
export const METRICS: Record<string, Metrics> = {
  normal: { group: 24, row: 20, counter: 48 },
  dense: { group: 24, row: 8, counter: 48 },
  tall: { group: 24, row: 28, counter: 48 },
};

export interface Node {
  id: string;
  name: string;
  host: string;
  kind: Track['kind'] | 'host';
  track: Track | null; // null: a host that holds several roots
  children: Node[];
  level: number;
}

export interface Band {
  node: Node;
  open: boolean;
  foldable: boolean;
  y: number;
  height: number;
  depthCount: number; // slice rows drawn
  rowHeight: number;
  summaries: string[]; // tracks whose summaries are drawn, closed groups only
  position: number; // among its siblings, from 1
  siblings: number;
  level: number; // 1 when pinned
  label: string; // pinned: with what it belongs to
  pinned: boolean;
}

/* How the reader set the tracks: those pinned come first, siblings in the order of `order`. */
export interface Arrangement {
  pinned: readonly string[];
  hidden: readonly string[];
  order: readonly string[];
}

export const AS_RECORDED: Arrangement = { pinned: [], hidden: [], order: [] };

export function arrangementOf(query: Readonly<Record<string, string>>): Arrangement {
  return { pinned: listOf(query.pin), hidden: listOf(query.hide), order: listOf(query.tracks) };
}

/* Devices first, then as the file wants it, then what it does not order. */
const orderOf = (node: Node): number => node.track?.order ?? Number.MAX_SAFE_INTEGER;
const IN_ORDER = (a: Node, b: Node): number =>
  Number(b.kind === 'device') - Number(a.kind === 'device') || orderOf(a) - orderOf(b);

/* How long its recorded slices are together; what was derived from them would count twice. */
export function timeOf(node: Node): number {
  const own = node.track === null || node.track.derived ? 0 : toNumber(node.track.duration_sum_ps);
  return node.children.reduce((sum, child) => sum + timeOf(child), own);
}

/* Only moments below it, as where a trace marks its own end. */
function isMoments(node: Node): boolean {
  return (
    node.kind !== 'counter' &&
    timeOf(node) === 0 &&
    (node.track?.depth_count ?? 0) <= 1 &&
    node.children.every(isMoments)
  );
}

/* What fits: `thread 25286 (python3)` of PyTorch's traces is `python3 25286`. */
export const threadName = (name: string): string => name.replace(/^thread (\d+) \((.+)\)$/, '$2 $1');

export function treeOf(tracks: readonly Track[]): Node[] {
  const nodes = new Map<string, Node>();
  const roots: Node[] = [];
  for (const track of tracks)
    nodes.set(track.id, {
      id: track.id,
      name: threadName(track.name),
      host: track.host,
      kind: track.kind,
      track,
      children: [],
      level: 1,
    });
  for (const node of nodes.values()) {
    const parent = node.track!.parent === null ? undefined : nodes.get(node.track!.parent);
    (parent?.children ?? roots).push(node);
  }
  for (const node of nodes.values()) node.children.sort(IN_ORDER);
  roots.sort((a, b) => Number(isMoments(a)) - Number(isMoments(b)) || IN_ORDER(a, b));
  const hosts = [...new Set(roots.map((node) => node.host))];
  const top =
    hosts.length < 2
      ? roots
      : hosts.map((host) =>
          hostNode(
            host,
            roots.filter((node) => node.host === host),
          ),
        );
  setLevels(top, 1);
  return top.filter(hasContent);
}

function hostNode(host: string, children: Node[]): Node {
  return { id: `host:${host}`, name: host, host, kind: 'host', track: null, children, level: 1 };
}

function setLevels(nodes: Node[], level: number): void {
  for (const node of nodes) {
    node.level = level;
    setLevels(node.children, level + 1);
  }
}

function hasContent(node: Node): boolean {
  node.children = node.children.filter(hasContent);
  return node.children.length > 0 || node.kind === 'counter' || (node.track?.slice_count ?? 0) > 0;
}

/* What stands open at first: hosts and processes, the device with most work (of nearly equal ones the
 * first), the main thread of its host, and lanes so flat that a summary would save nothing. */
const FLAT_DEPTH = 3;
const MORE_WORK = 1.1; // less more is none: ranks that share work are told apart by chance

export function busiestDevice(roots: readonly Node[]): Node | null {
  const devices: Node[] = [];
  const walk = (node: Node): void => (node.kind === 'device' ? void devices.push(node) : node.children.forEach(walk));
  roots.forEach(walk);
  return devices.reduce<Node | null>(
    (best, device) => (best === null || timeOf(device) > MORE_WORK * timeOf(best) ? device : best),
    null,
  );
}

export const isMainThread = (node: Node): boolean => /^(python|main|MainThread)/i.test(node.name);

/* Of threads that may be the main one that whose number is its process's, else that with most work; where
 * none is called so, the busiest thread of all. */
export function mainThread(roots: readonly Node[]): Node | null {
  const threads: { node: Node; own: boolean }[] = [];
  const walk = (node: Node, process: Node | null): void => {
    if (node.kind === 'thread' && node.children.length === 0) {
      const order = node.track?.order ?? null;
      threads.push({ node, own: order !== null && order === (process?.track?.order ?? null) });
    }
    for (const child of node.children) walk(child, node.kind === 'process' ? node : process);
  };
  roots.forEach((root) => walk(root, null));
  const called = threads.filter(({ node }) => isMainThread(node));
  const best = (called.length > 0 ? called : threads).sort(
    (a, b) => Number(b.own) - Number(a.own) || timeOf(b.node) - timeOf(a.node),
  )[0];
  return best?.node ?? null;
}

export function openAtFirst(roots: readonly Node[]): Set<string> {
  const open = new Set<string>();
  const busiest = busiestDevice(roots);
  const beside = busiest === null ? null : mainThread(roots.filter((node) => node.host === busiest.host));
  const main = beside ?? mainThread(roots);
  const walk = (node: Node, within: boolean): void => {
    if (node.kind === 'device') {
      within = node === busiest;
      if (within) open.add(node.id);
    } else if (node.children.length > 0) open.add(node.id);
    else if (within || (node.track?.depth_count ?? 0) <= FLAT_DEPTH) open.add(node.id);
    else if (node === main) open.add(node.id);
    for (const child of node.children) walk(child, within);
  };
  const allMoments = roots.every(isMoments);
  for (const root of roots) if (allMoments || !isMoments(root)) walk(root, false);
  return open;
}

/* Of those that stand open, rows of which nothing lies in the first window: closed, they take one row. */
export function emptyIn(roots: readonly Node[], open: ReadonlySet<string>, start: bigint, end: bigint): string[] {
  return roots.flatMap((node) => {
    const { track } = node;
    const isOutside =
      track !== null &&
      track.depth_count > 1 &&
      track.start_ps !== null &&
      track.end_ps !== null &&
      (toBig(track.end_ps) < start || toBig(track.start_ps) > end);
    const own = open.has(node.id) && node.children.length === 0 && isOutside ? [node.id] : [];
    return [...own, ...emptyIn(node.children, open, start, end)];
  });
}

/* The address tells what differs from that: `open=ID,-ID`. */
export function openOf(first: ReadonlySet<string>, text: string | undefined): Set<string> {
  const open = new Set(first);
  for (const word of (text ?? '').split(',').filter(Boolean)) {
    if (word.startsWith('-')) open.delete(word.slice(1));
    else open.add(word);
  }
  return open;
}

export function openParam(first: ReadonlySet<string>, open: ReadonlySet<string>): string {
  const closed = [...first].filter((id) => !open.has(id)).map((id) => `-${id}`);
  return [...[...open].filter((id) => !first.has(id)), ...closed].join(',');
}

export interface Narrowing {
  tracks: readonly string[];
  hosts: readonly string[];
  devices: readonly number[];
}

function listOf(text: string | undefined): string[] {
  return (text ?? '').split(',').filter(Boolean);
}

export function narrowingOf(query: Readonly<Record<string, string>>): Narrowing {
  return { tracks: listOf(query.track), hosts: listOf(query.host), devices: listOf(query.device).map(Number) };
}

/* What a restriction leaves out: other hosts, other devices, tracks that are neither asked for nor
 * above or below one that is. Tracks of no device stay: on CPUs they hold the ops. */
export function hiddenBy(roots: readonly Node[], { tracks, hosts, devices }: Narrowing): Set<string> {
  const hidden = new Set<string>();
  const walk = (node: Node, within: boolean): boolean => {
    const asked = within || tracks.length === 0 || tracks.includes(node.id);
    const device = node.track?.device ?? null;
    const fits =
      (hosts.length === 0 || hosts.includes(node.host)) &&
      (devices.length === 0 || device === null || devices.includes(device));
    const below = node.children.map((child) => walk(child, asked && tracks.length > 0)).some(Boolean);
    const shown = fits && (asked || below);
    if (!shown) hidden.add(node.id);
    return shown;
  };
  for (const root of roots) walk(root, false);
  return hidden;
}

/* Tracks of which neither the name, nor one above or below, holds the text. */
export function unlikeNamed(roots: readonly Node[], text: string): Set<string> {
  const part = text.trim().toLowerCase();
  const hidden = new Set<string>();
  const walk = (node: Node, within: boolean): boolean => {
    const holds = within || node.name.toLowerCase().includes(part);
    const below = node.children.map((child) => walk(child, holds)).some(Boolean);
    if (!holds && !below) hidden.add(node.id);
    return holds || below;
  };
  if (part !== '') for (const root of roots) walk(root, false);
  return hidden;
}

/* All tracks of a node. */
export function tracksIn(node: Node): string[] {
  return [...(node.track ? [node.track.id] : []), ...node.children.flatMap(tracksIn)];
}

/* Those whose summaries hold all that is below a node. */
function tracksBelow(node: Node): string[] {
  return node.track ? [node.track.id] : node.children.flatMap(tracksBelow);
}

interface Place {
  position: number;
  siblings: number;
  pinned: boolean;
  lift: number; // levels up
  label: string;
}

function bandOf(node: Node, open: boolean, y: number, metrics: Metrics, place: Place): Band {
  const isGroup = node.children.length > 0;
  const depth = node.track?.depth_count ?? 0;
  const lanes = node.kind === 'counter' || (isGroup && !open) ? 0 : open ? depth : 0;
  const summaries = open || node.kind === 'counter' ? [] : tracksBelow(node);
  const head = isGroup || !open ? metrics.group : 0;
  const height = node.kind === 'counter' ? metrics.counter : head + lanes * metrics.row;
  const { lift, ...rest } = place;
  return {
    node,
    open,
    foldable: isGroup || depth > 0,
    y,
    height,
    depthCount: lanes,
    rowHeight: metrics.row,
    summaries,
    level: node.level - lift,
    ...rest,
  };
}

export interface Layout {
  bands: Band[]; // pinned ones first
  height: number;
  pinned: number; // pixels of the pinned ones
}

/* Those the reader ordered first, the rest as recorded. */
function inOrder(nodes: readonly Node[], order: readonly string[]): readonly Node[] {
  if (order.length === 0) return nodes;
  const rank = new Map(order.map((id, index) => [id, index]));
  const place = (node: Node) => rank.get(node.id) ?? order.length;
  return [...nodes].sort((a, b) => place(a) - place(b));
}

/* A node, and the names above it. */
export function pathTo(roots: readonly Node[], id: string, above: readonly Node[] = []): Node[] | null {
  for (const node of roots) {
    if (node.id === id) return [...above, node];
    const found = pathTo(node.children, id, [...above, node]);
    if (found) return found;
  }
  return null;
}

export function layoutOf(
  roots: readonly Node[],
  isOpen: (id: string) => boolean,
  metrics: Metrics,
  hidden: ReadonlySet<string> = new Set(),
  arrangement: Arrangement = AS_RECORDED,
): Layout {
  const bands: Band[] = [];
  const away = new Set([...hidden, ...arrangement.hidden]);
  const pinned = new Set(arrangement.pinned);
  let y = 0;
  const place = (node: Node, where: Place): void => {
    const open = isOpen(node.id);
    const band = bandOf(node, open, y, metrics, where);
    bands.push(band);
    y += band.height;
    if (open) walk(node.children, where.lift);
  };
  const walk = (nodes: readonly Node[], lift: number): void => {
    const visible = inOrder(nodes, arrangement.order).filter((node) => !away.has(node.id) && !pinned.has(node.id));
    visible.forEach((node, index) =>
      place(node, { position: index + 1, siblings: visible.length, pinned: false, lift, label: node.name }),
    );
  };
  const known = arrangement.pinned
    .map((id) => pathTo(roots, id))
    .filter((path): path is Node[] => path !== null && !path.some((node) => away.has(node.id)));
  known.forEach((path, index) => {
    const node = path.at(-1)!;
    const label = path
      .slice(-2)
      .map((one) => one.name)
      .join(' / ');
    place(node, { position: index + 1, siblings: known.length, pinned: true, lift: node.level - 1, label });
  });
  const pinnedHeight = y;
  walk(roots, 0);
  return { bands, height: y, pinned: pinnedHeight };
}

/* The order of all siblings of a node with it moved to the place of another. */
export function movedOrder(order: readonly string[], siblings: readonly string[], id: string, to: number): string[] {
  const others = siblings.filter((one) => one !== id);
  const moved = [...others.slice(0, to), id, ...others.slice(to)];
  return [...order.filter((one) => !moved.includes(one)), ...moved];
}

/* Where the slice rows of a band begin: a group's own slices stand below its head. */
export function rowsTop(band: Band): number {
  return band.y + band.height - band.depthCount * band.rowHeight;
}

export function bandAt(layout: Layout, y: number): Band | null {
  let low = 0;
  let high = layout.bands.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const band = layout.bands[middle]!;
    if (y < band.y) high = middle - 1;
    else if (y >= band.y + band.height) low = middle + 1;
    else return band;
  }
  return null;
}

export function bandsBetween(layout: Layout, top: number, bottom: number): Band[] {
  return layout.bands.filter((band) => band.y < bottom && band.y + band.height > top);
}

/* Pinned bands stick to the top while the others scroll below them; where they would take most of
 * the room, they scroll like the others.
 *
 *   layout    | pinned | others ........................ |
 *   screen    | pinned |   others from stuck + scrollTop on  |
 */
const STUCK_SHARE_MAX = 0.6;

export function stuckHeight(layout: Layout, room: number): number {
  return layout.pinned <= room * STUCK_SHARE_MAX ? layout.pinned : 0;
}

/* From a height on the screen to one in the layout. */
export function layoutY(y: number, scrollTop: number, stuck: number): number {
  return y < stuck ? y : y + scrollTop;
}

export function screenY(band: Band, scrollTop: number, stuck: number): number {
  return band.y < stuck ? band.y : band.y - scrollTop;
}

/* Those on the screen: the stuck ones, then what is left of the others below them. */
export function bandsOnScreen(layout: Layout, scrollTop: number, height: number, stuck: number): Band[] {
  return layout.bands.filter(
    (band) => band.y < stuck || (band.y < scrollTop + height && band.y + band.height > scrollTop + stuck),
  );
}
