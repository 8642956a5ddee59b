/* SPDX-License-Identifier: Apache-2.0 */
/* The ops as a tree: program, category, scope, op, each with its time and how near it comes to the
 * device's peaks. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { OpNode, OpTreeReply } from '../data/op_tree';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { opRestriction } from '../data/restriction';
import type { RunDetails } from '../data/types';
import type { Changes } from '../model/address';
import { shortScope } from '../model/cut';
import {
  count,
  inScale,
  plural,
  share,
  shareCell,
  time,
  timeExact,
  timeScale,
  toNumber,
  UNKNOWN,
} from '../model/numbers';
import { openAtFirst, programOf, rowsOf, type OpTreeRow } from '../model/pictures/op_tree';
import { slicesNamed, slicesOfOp } from '../model/search';
import { sentenceCase, strong, named, type Sentence } from '../model/sentence';
import { By } from '../ui/by';
import { Icon } from '../ui/icons';
import { Link } from '../ui/link';
import { Failed, NothingHere, Waiting } from '../ui/states';
import { Name, SentenceLine } from '../ui/text';

const NODES_MAX = 5000;
const FIRST = { program: 'program', category: 'category', scope: 'scope' };

function sentenceOf(root: OpNode): Sentence {
  const [top] = root.children;
  const sentence: Sentence = [strong(time(root.self_ps)), ' of self time'];
  if (top && top.share !== null && top.share < 1)
    sentence.push(', ', strong(share(top.share)), ` of it in ${named(top.name)}`);
  if (root.flops_share !== null)
    sentence.push('; ', strong(share(root.flops_share)), ' of what the devices could calculate meanwhile');
  if (root.bandwidth_share !== null)
    sentence.push(
      root.flops_share === null ? '; ' : ', ',
      strong(share(root.bandwidth_share)),
      ' of what their memory could move',
    );
  return [...sentence, '.'];
}

/* A lower bound where some of the time is that of ops without known costs. */
function shareWords(node: OpNode, key: 'flops' | 'bandwidth'): { cell: string; tip: string } {
  const value = node[`${key}_share`];
  const unknown = toNumber(key === 'flops' ? node.flops_unknown_ps : node.bytes_unknown_ps);
  if (value === null) return { cell: UNKNOWN, tip: node.reasons[`${key}_share`] ?? 'unknown' };
  const isBound = unknown > 0 && unknown >= toNumber(node.self_ps) / 1000;
  const work = key === 'flops' ? `${count(node.flops ?? 0)} FLOPs` : `${count(node.bytes ?? 0)} bytes`;
  return {
    cell: `${isBound ? '≥ ' : ''}${shareCell(value)}`,
    tip: `${work}${isBound ? `; ops of ${time(unknown)} have no known cost` : ''}`,
  };
}

function Bar({ value, words, tip }: { value: number | null; words: string; tip?: string }) {
  return (
    <span class="op-tree-bar" data-tip={tip}>
      <span class="number">{words}</span>
      <span class="op-tree-track">
        {value !== null && <span style={{ width: `${Math.min(1, Math.max(0, value)) * 100}%` }} />}
      </span>
    </span>
  );
}

/* Names in brackets stand for what has none. */
function goalOf(row: OpTreeRow, root: OpNode): Changes | null {
  const { level, name } = row.node;
  const program = programOf(root, row.path);
  if (level === 'op') {
    const find = program === null || program.startsWith('(') ? slicesNamed(name) : slicesOfOp(name, program);
    return { view: 'timeline', find, slice: null };
  }
  if (name.startsWith('(')) return null;
  return level === 'program' ? { module: name } : level === 'scope' ? { scope: name } : null;
}

const PEAKS = [
  {
    key: 'flops',
    title: 'FLOPs of peak',
    tip: 'How much of its time its FLOPs would take at the device’s peak',
  },
  {
    key: 'bandwidth',
    title: 'bandwidth of peak',
    tip: 'How much of its time its bytes would take at the peak of the device’s memory',
  },
] as const;

type Peak = (typeof PEAKS)[number];

const isKnown = (node: OpNode, { key }: Peak): boolean =>
  node[`${key}_share`] !== null || node.children.some((child) => isKnown(child, { key } as Peak));

/* Of columns that no row has a value for, why: one line in place of them. */
function unknownWords(root: OpNode): string | null {
  const reasons = PEAKS.filter((peak) => !isKnown(root, peak)).map(
    ({ key, title }) => [title, root.reasons[`${key}_share`] ?? 'unknown'] as const,
  );
  if (reasons.length === 0) return null;
  if (new Set(reasons.map(([, reason]) => reason)).size === 1)
    return `No ${reasons.map(([title]) => title).join(' and ')}: ${reasons[0]![1]}.`;
  return `${reasons.map(([title, reason]) => `No ${title}: ${reason}`).join('. ')}.`;
}

function Rows({ reply }: { reply: OpTreeReply }) {
  const { root } = reply;
  const peaks = PEAKS.filter((peak) => isKnown(root, peak));
  const [open, setOpen] = useState(() => openAtFirst(root));
  const [at, setAt] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => rowsOf(root, open), [root, open]);
  const scale = timeScale(root.children.map((child) => child.self_ps));
  const focus = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setAt(next);
    body.current?.querySelectorAll<HTMLElement>('[role=row]')[next]?.focus();
  };
  const toggle = (row: OpTreeRow): void => {
    const next = new Set(open);
    next.has(row.path) ? next.delete(row.path) : next.add(row.path);
    setOpen(next);
  };
  const key = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (!row) return;
    if (event.key === 'ArrowDown') focus(at + 1);
    else if (event.key === 'ArrowUp') focus(at - 1);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(rows.length - 1);
    else if (event.key === 'ArrowRight') {
      if (row.node.children.length > 0 && !row.isOpen) toggle(row);
      else if (row.isOpen) focus(at + 1);
    } else if (event.key === 'ArrowLeft') {
      if (row.isOpen) toggle(row);
      else focus(rows.findIndex((one) => one.path === row.path.replace(/\.?\d+$/, '')));
    } else if (event.key === 'Enter') {
      const goal = goalOf(row, root);
      if (goal) go(goal, 'push');
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class={`op-tree peaks-${peaks.length}`}
      role="treegrid"
      aria-label="Ops by program, category and scope"
      aria-rowcount={rows.length + 1}
    >
      <div class="op-tree-head" role="row" aria-rowindex={1}>
        <span role="columnheader">name</span>
        <span role="columnheader" class="number">
          self ({scale.unit})
        </span>
        <span role="columnheader" class="number">
          share
        </span>
        {peaks.map(({ key, title, tip }) => (
          <span key={key} role="columnheader" class="number" data-tip={tip}>
            {title}
          </span>
        ))}
        <span role="columnheader" class="number">
          ops
        </span>
      </div>
      <div class="op-tree-body" ref={body} role="rowgroup" onKeyDown={key}>
        {rows.map((row, index) => {
          const { node } = row;
          const goal = goalOf(row, root);
          const isParent = node.children.length > 0;
          return (
            <div
              key={row.path}
              class={`op-tree-row kind-${node.kind}`}
              role="row"
              tabIndex={index === Math.min(at, rows.length - 1) ? 0 : -1}
              aria-level={row.depth}
              aria-posinset={row.place}
              aria-setsize={row.of}
              aria-rowindex={index + 2}
              aria-expanded={isParent ? row.isOpen : undefined}
              onFocus={() => setAt(index)}
              onClick={(event) => {
                if ((event.target as Element).closest('a')) return;
                if (isParent) toggle(row);
              }}
            >
              <span role="gridcell" class="op-tree-name" style={{ paddingLeft: `${(row.depth - 1) * 16}px` }}>
                <span class={row.isOpen ? 'chevron' : 'chevron closed'} aria-hidden="true">
                  {isParent && <Icon name="down" />}
                </span>
                <span class="swatch" data-tip={node.kind} />
                <span class="cut" data-tip={`${node.level}: ${node.name}`}>
                  {goal ? (
                    <Link to={goal}>
                      <Name text={node.level === 'scope' ? shortScope(node.name) : node.name} />
                    </Link>
                  ) : (
                    <Name text={node.name} />
                  )}
                </span>
                {!row.isOpen && <span class="faint">{node.level}</span>}
              </span>
              <span role="gridcell" class="number" data-tip={timeExact(node.self_ps)}>
                {inScale(node.self_ps, scale)}
              </span>
              <span role="gridcell">
                <Bar value={node.share} words={shareCell(node.share)} />
              </span>
              {peaks.map(({ key }) => {
                const { cell, tip } = shareWords(node, key);
                return (
                  <span key={key} role="gridcell">
                    <Bar value={node[`${key}_share`]} words={cell} tip={tip} />
                  </span>
                );
              })}
              <span role="gridcell" class="number">
                {count(node.op_count)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function OpTreeView({ run }: { run: RunDetails }) {
  const first = Object.keys(FIRST).find((one) => one === query.value.first) ?? 'program';
  const tree = useJson<OpTreeReply>('api/op_tree', { run: run.id, first, limit: NODES_MAX, ...opRestriction.value });
  const reply = tree.data;
  return (
    <>
      {reply && reply.root.op_count > 0 && <SentenceLine sentence={sentenceOf(reply.root)} />}
      {reply?.notes.map((note) => (
        <p key={note.message} class={`basis${note.severity === 'info' ? '' : ' warn'}`}>
          {sentenceCase(note.message)}
        </p>
      ))}
      {reply && reply.root.op_count > 0 && unknownWords(reply.root) !== null && (
        <p class="basis op-tree-unknown">{unknownWords(reply.root)}</p>
      )}
      <div class="toolbar">
        <nav class="crumbs shown-as" aria-label="Shown as">
          <Link to={{ as: null }}>table</Link>
          <Link to={{ as: 'tree' }} current>
            tree
          </Link>
        </nav>
        <By value={first} words={FIRST} onChoose={(word) => go({ first: word })} />
        {reply && (
          <span class="quiet">
            {plural(reply.root.op_count, reply.by)}
            {reply.node_count < reply.node_count_all &&
              `; the largest ${count(reply.node_count)} of ${count(reply.node_count_all)} rows`}
          </span>
        )}
      </div>
      {tree.error && <Failed error={tree.error} />}
      {!reply && tree.waiting && <Waiting what="Adding up." progress={tree.progress} />}
      {reply &&
        (reply.root.op_count === 0 ? (
          <NothingHere did="Nothing ran" />
        ) : (
          <Rows key={`${run.id} ${first}`} reply={reply} />
        ))}
    </>
  );
}
