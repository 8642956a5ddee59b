/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a module: only the lines on the screen are asked for; the time each took stands in
 * the gutter, and names are links. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { HloLine, HloModule, HloPage } from '../../data/hlo';
import { loadJson } from '../../data/resource';
import { count, time, timeExact, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Failed } from '../../ui/states';
import { useVirtual } from '../../ui/virtual';

const PAGE_LINES = 400;
const LINE_HEIGHT = 20;
const TEXT_MAX = 2000;
const SHARE_SEEN = 0.04; // below it a bar is a speck beside the number

interface Lines {
  rows: ReadonlyMap<number, HloLine>; // by line, from 1
  count: number | null;
  error: Error | null;
}

/* Pages come as they are scrolled to; those that are there stay. */
function useLines(run: string, module: string, first: number, last: number): Lines {
  const [state, setState] = useState<Lines & { module: string }>({ rows: new Map(), count: null, error: null, module });
  const asked = useRef(new Set<string>());
  const mine = state.module === module ? state : { rows: new Map<number, HloLine>(), count: null, error: null };
  const from = Math.floor(Math.max(0, first) / PAGE_LINES);
  const to = Math.floor(Math.max(0, last) / PAGE_LINES);
  useEffect(() => {
    for (let page = from; page <= to; page++) {
      const key = `${module} ${page}`;
      if (asked.current.has(key)) continue;
      asked.current.add(key);
      loadJson<HloPage<HloLine>>('api/hlo', { run, module, line: page * PAGE_LINES + 1, limit: PAGE_LINES })
        .then((reply) =>
          setState((before) => {
            const rows = new Map(before.module === module ? before.rows : []);
            for (const row of reply.rows) rows.set(row.line, row);
            return { rows, count: reply.row_count, error: null, module };
          }),
        )
        .catch((error: Error) => {
          asked.current.delete(key);
          setState((before) => ({ ...before, error, module }));
        });
    }
  }, [module, from, to]);
  return mine;
}

const NAMES = /%[\w.-]+/g;

/* A name behind "calls=" and the like, or before a head's parameters, is a computation. */
function isComputation(text: string, at: number): boolean {
  return /(calls|to_apply|body|condition|select|scatter|_computations?)=\{?(%[\w.-]+, )*$/.test(
    text.slice(Math.max(0, at - 400), at),
  );
}

function Words({ line, text, names }: { line: HloLine; text: string; names: ReadonlyMap<string, number> }) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(NAMES)) {
    const name = found[0].slice(1);
    parts.push(text.slice(end, found.index));
    end = found.index + found[0].length;
    const heads = names.get(name);
    if (name === line.instruction)
      parts.push(
        <Link to={{ name, line: null }}>
          <strong>{found[0]}</strong>
        </Link>,
      );
    else if (isComputation(text, found.index))
      parts.push(heads === undefined ? found[0] : <Link to={{ line: String(heads), name: null }}>{found[0]}</Link>);
    else parts.push(line.instruction === null ? found[0] : <Link to={{ name, line: null }}>{found[0]}</Link>);
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}

interface Props {
  run: string;
  module: HloModule;
  focus: number | null; // a line, from 1
  start: number; // the line on top where nothing is in focus
  names: ReadonlyMap<string, number>; // computations: where each begins
}

export function HloText({ run, module, focus, start, names }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<[number, number]>([Math.max(0, (focus ?? start) - 40), (focus ?? start) + 60]);
  const lines = useLines(run, module.key, range[0], range[1]);
  const virtual = useVirtual(box, lines.count ?? 0, LINE_HEIGHT);
  const items = virtual.items;
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items.length > 0) setRange([first, last]);
  }, [first, last, items.length > 0]);
  const known = lines.count !== null;
  useLayoutEffect(() => {
    if (!known || box.current === null) return;
    virtual.show((focus ?? start) - 1, focus === null ? 0 : box.current.clientHeight / 3);
  }, [focus, start, module.key, known]);
  if (lines.error && !known) return <Failed error={lines.error} />;
  const largest = module.self_ps === null ? 0 : toNumber(module.self_ps);
  return (
    <div
      class={module.self_ps === null ? 'hlo-text untimed' : 'hlo-text'}
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={`Text of ${module.key}`}
    >
      <div class="hlo-lines" style={{ height: `${virtual.height}px` }}>
        {items.map((item) => {
          const line = lines.rows.get(item.index + 1);
          const share = line?.self_ps && largest > 0 ? toNumber(line.self_ps) / largest : 0;
          return (
            <div
              key={item.index}
              class={item.index + 1 === focus ? 'hlo-line focus' : 'hlo-line'}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <span class="hlo-number">{count(item.index + 1)}</span>
              <span
                class="hlo-time"
                data-tip={
                  line?.self_ps
                    ? `${timeExact(line.self_ps)} in ${count(line.execution_count ?? 0)} executions`
                    : undefined
                }
              >
                {line && line.self_ps !== null && time(line.self_ps)}
                {share >= SHARE_SEEN && <span class="hlo-share" style={{ width: `${Math.min(1, share) * 100}%` }} />}
              </span>
              <code>{line && <Words line={line} text={line.text.slice(0, TEXT_MAX)} names={names} />}</code>
            </div>
          );
        })}
      </div>
    </div>
  );
}
