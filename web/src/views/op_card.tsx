/* SPDX-License-Identifier: Apache-2.0 */
/* One op, beside any page: what it took, where it stands in the program, when it ran, what feeds it.
 *
 *   dot.65                                      x
 *   10.7 ms self, 5.5 % · 12 executions · mean 895 us     12 slices on the timeline
 *   jit_train_step · layer_1/mlp · model.py:41
 *   by step   _ _ # _ _ _        durations  ..#:..
 *   instruction, operands, users; Python calls; launch
 */
import { useEffect, useRef } from 'preact/hooks';
import type { HloBrief, HloInstruction, HloModule } from '../data/hlo';
import { go, query } from '../data/place';
import { useJson } from '../data/resource';
import { opRestriction } from '../data/restriction';
import type { Ps } from '../data/json';
import { absence, type OpTimes, type RunDetails, type SliceDetails, type TopList, type TopRow } from '../data/types';
import { shortScope } from '../model/cut';
import { count, inScale, plural, rateScale, share, THIN, time, timeExact, toNumber, UNKNOWN } from '../model/numbers';
import { CLOSED, opOf, placeOfOp, slicesOf, type OpPlace } from '../ui/op_link';
import { DurationBars } from '../ui/histogram';
import { Icon } from '../ui/icons';
import { registerActions } from '../ui/keys';
import { Link } from '../ui/link';
import { PythonCalls } from '../ui/python_calls';
import { SourceText } from '../ui/source';
import { Failed, Waiting } from '../ui/states';
import { Name } from '../ui/text';
import { KernelFacts } from './timeline/kernel_facts';
import { moduleKey } from './timeline/hlo_facts';

const BARS_MAX = 160;
const NEIGHBOURS_MAX = 12;

interface InStep {
  step: number;
  selfPs: number;
  slices: number;
}

/* A step of several hosts is one. */
function bySteps(times: OpTimes): InStep[] {
  const steps = new Map<number, InStep>();
  for (const one of times.steps) {
    const sum = steps.get(one.step) ?? { step: one.step, selfPs: 0, slices: 0 };
    steps.set(one.step, {
      ...sum,
      selfPs: sum.selfPs + toNumber(one.self_ps),
      slices: sum.slices + one.count,
    });
  }
  return [...steps.values()];
}

/* Of more steps than bars each bar is the longest of its own. */
function barsOf(steps: readonly InStep[]): InStep[] {
  const per = Math.ceil(steps.length / BARS_MAX);
  return Array.from({ length: Math.ceil(steps.length / per) }, (_, at) =>
    steps.slice(at * per, (at + 1) * per).reduce((a, b) => (b.selfPs > a.selfPs ? b : a)),
  );
}

const HEIGHT = 40;

function Steps({ op, times }: { op: OpPlace; times: OpTimes }) {
  const steps = bySteps(times);
  if (steps.length < 2) return null;
  const bars = barsOf(steps);
  const longest = steps.reduce((a, b) => (b.selfPs > a.selfPs ? b : a));
  const most = Math.max(1, longest.selfPs);
  const width = Math.max(2, Math.min(16, Math.floor(400 / bars.length)));
  const ran = steps.filter((one) => one.slices > 0).length;
  const words = `Self time by step: ${ran} of ${plural(steps.length, 'step')} have it, at most ${time(longest.selfPs)}`;
  const at = (step: number) => ({ ...slicesOf(op, query.value, null), step: String(step) });
  return (
    <section>
      <h3 class="section">By step</h3>
      <svg class="op-steps" width={bars.length * width} height={HEIGHT} role="img" aria-label={words}>
        {bars.map((bar, index) => {
          const height = bar.selfPs === 0 ? 0 : Math.max(1, Math.round(((HEIGHT - 1) * bar.selfPs) / most));
          return (
            <g
              key={bar.step}
              data-tip={`step ${bar.step}: ${time(bar.selfPs)} in ${plural(bar.slices, 'slice')}`}
              onClick={() => go(at(bar.step), 'push')}
            >
              <rect class="room" x={index * width} y="0" width={width} height={HEIGHT} />
              <rect x={index * width} y={HEIGHT - height} width={width - 1} height={height} />
            </g>
          );
        })}
      </svg>
      <p class="quiet">
        Most in <Link to={at(longest.step)}>step {longest.step}</Link>: {time(longest.selfPs)}
        {times.outside.count > 0 && `; ${time(times.outside.self_ps)} outside of the steps`}.
      </p>
    </section>
  );
}

function Figures({ op, times, row, all }: { op: OpPlace; times: OpTimes; row: TopRow | null; all: Ps | null }) {
  const mean = row?.mean_ps ?? null;
  return (
    <>
      <p class="dots">
        <span data-tip={timeExact(times.self_ps)}>
          <strong>{time(times.self_ps)}</strong> self
          {all !== null && toNumber(all) > 0 && `, ${share(toNumber(times.self_ps) / toNumber(all))} of all`}
        </span>
        {row && <span>{plural(row.count, 'execution')}</span>}
        {mean !== null && <span data-tip={timeExact(mean)}>mean {time(mean)}</span>}
        {row?.p95_ps != null && <span data-tip={timeExact(row.p95_ps)}>p95 {time(row.p95_ps)}</span>}
        <span>
          <Link to={slicesOf(op, query.value, times.counted)} title="Exactly these, on the timeline">
            {plural(times.event_count, 'slice')}
          </Link>
        </span>
        <span>
          <Link to={{ ...slicesOf(op, query.value, times.counted), slice: times.longest }}>longest</Link>{' '}
          {time(times.max_ps)}
        </span>
      </p>
      <p class="quiet">{times.counted ? `Of steps ${times.counted}, those that count.` : basisOf()}</p>
    </>
  );
}

const basisOf = (): string =>
  query.value.start_ps !== undefined
    ? 'Of the range.'
    : query.value.step !== undefined && query.value.step !== 'all'
      ? `Of steps ${query.value.step}.`
      : 'Of the whole recording.';

function Costs({ row, slice }: { row: TopRow | null; slice: SliceDetails | null }) {
  const amount = (value: number | null | undefined, unit: string): string | null => {
    if (value === null || value === undefined) return null;
    const scale = rateScale([value], unit);
    return `${inScale(value, scale)}${THIN}${scale.unit}`;
  };
  const parts = [
    amount(row?.flops ?? null, 'FLOP') ?? amount(slice?.flops, 'FLOP'),
    amount(row?.bytes ?? null, 'B') ?? amount(slice?.bytes, 'B'),
    amount(row?.flops_per_s ?? null, 'FLOP/s'),
    amount(row?.bytes_per_s ?? null, 'B/s'),
    row?.peak_share != null ? `${share(row.peak_share)} of peak` : null,
    row?.bound_by ? `bound by ${row.bound_by}` : null,
  ].filter((part) => part !== null);
  const why = row?.reasons?.flops ?? slice?.reasons?.flops;
  if (parts.length === 0)
    return why ? (
      <p class="quiet">
        FLOPs and bytes {UNKNOWN}: {why}.
      </p>
    ) : null;
  return (
    <p class="dots">
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
    </p>
  );
}

function Where({ row, slice }: { row: TopRow | null; slice: SliceDetails | null }) {
  const kind = row?.kind ?? slice?.kind ?? null;
  const [category, scope, source] = [
    row?.category ?? slice?.category,
    row?.scope ?? slice?.scope,
    row?.source ?? slice?.source,
  ];
  const module = row?.module ?? slice?.module;
  return (
    <p class="dots quiet">
      {kind && (
        <span class={`kind-${kind}`}>
          <span class="swatch" />
          {kind}
        </span>
      )}
      {category && category !== kind && <span>{category}</span>}
      {module && (
        <Link to={{ view: 'ops', module, scope: null, by: null, q: null }}>
          <Name text={module} />
        </Link>
      )}
      {scope && (
        <Link to={{ view: 'ops', scope, by: null, q: null }} title={scope}>
          <Name text={shortScope(scope)} />
        </Link>
      )}
      {source && <SourceText source={source} />}
    </p>
  );
}

/* One that ran has a card; any other stands in the text of its module. */
function Neighbour({ of, module, hlo }: { of: HloBrief; module: string; hlo: string }) {
  const ran = of.self_ps !== null && of.self_ps !== undefined;
  const to = ran
    ? placeOfOp({ name: of.name, module, by: 'op' })
    : { ...CLOSED, view: 'hlo', module: hlo, name: of.name, line: null };
  return (
    <li>
      <Link to={to}>
        <Name text={of.name} mono />
      </Link>
      <span class="quiet cut">
        {of.opcode} <Name text={of.shape} mono />
      </span>
      <span class="number">{ran ? time(of.self_ps!) : ''}</span>
    </li>
  );
}

function Neighbours({ words, of, module, hlo }: { words: string; of: HloBrief[]; module: string; hlo: string }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3 class="section">
        {words} <span class="faint">{count(of.length)}</span>
      </h3>
      <ul class="hlo-hop">
        {of.slice(0, NEIGHBOURS_MAX).map((one) => (
          <Neighbour key={one.name} of={one} module={module} hlo={hlo} />
        ))}
      </ul>
      {of.length > NEIGHBOURS_MAX && <p class="faint">and {count(of.length - NEIGHBOURS_MAX)} more</p>}
    </>
  );
}

function Instruction({ run, slice }: { run: RunDetails; slice: SliceDetails }) {
  const asked = slice.op && slice.module && !absence(run, 'hlo');
  const key = asked ? moduleKey(slice) : '';
  const reply = useJson<{ module: HloModule; instruction: HloInstruction }>(asked ? 'api/hlo' : null, {
    run: run.id,
    module: key,
    instruction: slice.op,
  });
  const of = reply.data?.instruction;
  if (!asked || !of || of.name !== slice.op) return null;
  const near = (distance: number) => of.neighbours.filter((one) => one.distance === distance);
  return (
    <section>
      <h3 class="section">
        <Link to={{ ...CLOSED, view: 'hlo', module: key, name: of.name, line: null }}>Instruction</Link>
      </h3>
      <p>
        <strong>{of.opcode}</strong> <Name text={of.shape} mono />
        {of.meaning && <span class="quiet">: {of.meaning.words}</span>}
      </p>
      <pre class="mono hlo-called">{of.text}</pre>
      <Neighbours words="Operands" of={near(-1)} module={slice.module!} hlo={key} />
      <Neighbours words="Users" of={near(1)} module={slice.module!} hlo={key} />
    </section>
  );
}

function close(): void {
  const { key } = query.value;
  go(CLOSED, 'replace');
  if (key !== undefined)
    requestAnimationFrame(() => document.querySelector<HTMLElement>('main .table-row[aria-selected=true]')?.focus());
}

export function OpCard({ run }: { run: RunDetails }) {
  const op = opOf(query.value)!;
  const asked = {
    run: run.id,
    ...Object.fromEntries(Object.entries(opRestriction.value).filter(([key]) => !/^(name|module|scope|q)$/.test(key))),
    name: op.name,
    ...(op.module ? { module: op.module } : {}),
  };
  const found = useJson<OpTimes>('api/op', { ...asked, by: op.by });
  const times = found.data?.name === op.name && (found.data.module ?? null) === op.module ? found.data : null;
  const rows = useJson<TopList>(op.by === 'op' ? 'api/top' : null, { ...asked, by: 'op', limit: 20 });
  const all = useJson<TopList>(op.by === 'op' ? 'api/top' : null, {
    run: run.id,
    ...opRestriction.value,
    by: 'op',
    limit: 1,
  });
  const details = useJson<SliceDetails>(times ? 'api/slice' : null, { run: run.id, id: times?.longest });
  const row = rows.data?.rows.find((one) => one.name === op.name) ?? null;
  const slice = times && details.data?.id === times.longest ? details.data : null;
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => registerActions({ escape: close }), []);
  return (
    <aside class="op-card" aria-label={`Op ${op.name}`}>
      <div class="op-card-head">
        <h2 ref={head}>
          <Name text={op.name} mono />
        </h2>
        <button aria-label="Close the card" data-tip="Close (Esc)" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {found.error && <Failed error={found.error} />}
      {!times && found.waiting && <Waiting what="Adding up its slices." progress={found.progress} />}
      {times && (
        <>
          <Figures op={op} times={times} row={row} all={all.data?.total_self_ps ?? null} />
          <Where row={row} slice={slice} />
          <Costs row={row} slice={slice} />
          <Steps op={op} times={times} />
          {times.histogram && (
            <section>
              <h3 class="section">Durations</h3>
              <DurationBars of={times.histogram} />{' '}
              <span class="quiet">
                {time(times.min_ps)} to {time(times.max_ps)}
              </span>
            </section>
          )}
          {slice && <Instruction run={run} slice={slice} />}
          {slice && <PythonCalls slice={slice} />}
          {slice && <KernelFacts slice={slice} />}
        </>
      )}
    </aside>
  );
}
