/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence that opens a page: could be read aloud. A clause whose figure is unknown is left
 * out, never filled. Numbers are set in 600. */
import type { FlameNode, Run, TopList } from '../data/types';
import { cutMiddle, shown } from './cut';
import { telling } from './kernel_label';
import { count, countInProse, plural, share, time, toNumber } from './numbers';

export interface Strong {
  strong: string;
}
export type Sentence = (string | Strong)[];

export const strong = (text: string): Strong => ({ strong: text });

/* A kernel's name may be a page long: what tells says enough, or both its ends. */
const NAME_LETTERS = 56;
export const named = (text: string): string =>
  cutMiddle(text.length > NAME_LETTERS ? shown(telling(text)) : shown(text), NAME_LETTERS);

export function plainText(sentence: Sentence): string {
  return sentence.map((piece) => (typeof piece === 'string' ? piece : piece.strong)).join('');
}

/* What the server says as a clause, as a sentence. */
export const sentenceCase = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

/* Where kernels are counted, copies are not: what they share is their own time. */
export const timeOf = (by: string | undefined, of: string): string => (by === 'kernel' ? 'kernel time' : `${of} time`);

/* Some devices of a run may have run nothing, and what they are may stand in another of its files. */
export function measuredOn(run: Pick<Run, 'device_count' | 'device_kind'>, deviceCount: number, basis: string): string {
  if (basis !== plural(deviceCount, 'device') && !basis.startsWith(`${deviceCount} × `)) return basis;
  const all = run.device_count ?? 0;
  const kind = run.device_kind ?? basis.split(' × ')[1];
  const some = all > deviceCount ? `${deviceCount} of ${all}` : `${deviceCount}`;
  return `${some}${kind ? ` × ${kind}` : ` ${Math.max(all, deviceCount) === 1 ? 'device' : 'devices'}`}`;
}

export function opsSentence(top: TopList, noun: string): Sentence {
  if (top.row_count === 0) return [];
  const where = top.of === 'device' ? 'on devices' : 'on the host';
  const verb = top.row_count === 1 ? ' takes ' : ' take ';
  const sentence: Sentence = [
    strong(plural(top.row_count, noun, noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)),
    verb,
    strong(time(top.total_self_ps)),
    ` ${where}${top.counted ? ` in steps ${top.counted.replace('-', '–')}` : ''}`,
  ];
  const total = toNumber(top.total_self_ps);
  const first = top.rows.slice(0, 10).reduce((sum, row) => sum + toNumber(row.self_ps), 0);
  if (total > 0 && top.row_count > 10 && top.rows.length >= 10)
    sentence.push('; ten of them take ', strong(share(first / total)));
  sentence.push('.');
  return sentence;
}

/* What a node takes by itself; a leaf all of it. */
function ownTime(node: FlameNode): number {
  return node.children.length === 0 ? toNumber(node.total_ps) : toNumber(node.self_ps);
}

/* The node below (or the node itself) that takes most by itself. */
function heaviest(node: FlameNode): FlameNode {
  return node.children.map(heaviest).reduce((a, b) => (ownTime(b) > ownTime(a) ? b : a), node);
}

/* Down the tree while more than half goes one way; then the leaf that has most of that. */
export function flameSentence(root: FlameNode, of = 'device', what = `${of} time`): Sentence {
  const total = toNumber(root.total_ps);
  if (total === 0) return [];
  const path: FlameNode[] = [];
  for (let node = root; ;) {
    const widest = node.children[0];
    if (!widest || toNumber(widest.total_ps) < total / 2 || widest.name === '(other)') break;
    path.push(widest);
    node = widest;
  }
  const last = path.at(-1) ?? root;
  const leaf = heaviest(last);
  const most = ownTime(leaf) / toNumber(last.total_ps);
  const where =
    path.length === 0
      ? 'The largest part'
      : path
          .slice(-2)
          .map((node) => named(node.name))
          .join('/');
  if (path.length === 0) return [`${where}, ${named(leaf.name)}, takes `, strong(share(most)), ` of ${what}.`];
  const rest =
    leaf === last
      ? ''
      : most > 0.5
        ? `, most of it in ${named(leaf.name)}`
        : `; ${named(leaf.name)} has ${share(most)} of that`;
  return [where, ' takes ', strong(share(toNumber(last.total_ps) / total)), ` of ${what}${rest}.`];
}

/* Runs of one series differ in their numbers only: step_1000, step_1500. */
const seriesOf = (name: string): string => name.replace(/\d+/g, '#');

export function runsSentence(runs: readonly Run[], all: number): Sentence {
  const sentence: Sentence = [strong(plural(all, 'run')), '.'];
  const ready = runs.filter((run) => run.step_median_ps !== null);
  const newest = ready.find((run) => run.started_at !== null) ?? ready[0];
  if (!newest) return sentence;
  sentence.push(
    ` The newest with steps, ${named(newest.name)}, takes `,
    strong(time(newest.step_median_ps!)),
    ' a step (median)',
  );
  const before = ready.slice(ready.indexOf(newest) + 1).find((run) => seriesOf(run.name) === seriesOf(newest.name));
  /* Whether that is a change, a comparison tells: it knows the noise. */
  if (before) sentence.push(`; ${named(before.name)} took `, strong(time(before.step_median_ps!)));
  sentence.push('.');
  return sentence;
}

/* `read`: those that are no copies, caches or files of others. */
export function filesSentence(fileCount: number, bytesText: string, partial: number, read: number): Sentence {
  const whole =
    read === 0
      ? fileCount === 1
        ? ', not read'
        : ', none read'
      : partial === 0
        ? fileCount === 1
          ? ', whole'
          : ', all whole'
        : `, ${count(partial)} not whole`;
  return [strong(`${countInProse(fileCount)} ${fileCount === 1 ? 'file' : 'files'}`), `, ${bytesText}${whole}.`];
}
