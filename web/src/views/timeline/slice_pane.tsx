/* SPDX-License-Identifier: Apache-2.0 */
/* Everything known of the slice in focus. */
import { address } from '../../data/api';
import type { PathReply } from '../../data/critical';
import { useJson } from '../../data/resource';
import { absence, type Flow, type SliceDetails } from '../../data/types';
import { shortScope, shown } from '../../model/cut';
import {
  count,
  rateScale,
  inScale,
  THIN,
  time,
  timeExact,
  timeScale,
  toBig,
  toNumber,
  UNKNOWN,
} from '../../model/numbers';
import { slicesNamed } from '../../model/search';
import { Link } from '../../ui/link';
import { DurationBars } from '../../ui/histogram';
import { PythonCalls } from '../../ui/python_calls';
import { SourceText } from '../../ui/source';
import { Name } from '../../ui/text';
import { HloFacts, moduleKey } from './hlo_facts';
import { KernelFacts } from './kernel_facts';
import { isPathShown } from './path_row';
import type { TimelineState } from './state';

const FLOWS_MAX = 12;
/* What is known of a slice's mates is known over the whole recording. */
const WHOLE = { step: null, device: null, host: null, track: null, start_ps: null, end_ps: null };

function rankWords(rank: number, of: number): string {
  const ordinal = ['', 'longest', 'second longest', 'third longest'][rank] ?? `${count(rank)}th longest`;
  return of === 1 ? 'the only one of its name' : `${ordinal} of ${count(of)}`;
}

function Figures({ slice }: { slice: SliceDetails }) {
  const { mates } = slice;
  return (
    <p class="dots">
      <strong data-tip={timeExact(slice.dur_ps)}>
        {toNumber(slice.dur_ps) === 0 ? 'instant' : time(slice.dur_ps)}
      </strong>
      {slice.self_ps !== null && <span data-tip={timeExact(slice.self_ps)}>self {time(slice.self_ps)}</span>}
      {mates && (
        <span>
          <Link to={{ find: slicesNamed(slice.name), ...WHOLE }} title="All slices of this name">
            {mates.rank === null ? `one of ${count(mates.count)}` : rankWords(mates.rank, mates.count)}
          </Link>
          {mates.count > 1 && ` (median ${time(mates.p50_ps)})`}
        </span>
      )}
      {mates?.histogram && <DurationBars of={mates.histogram} own={slice.dur_ps} />}
      <span data-tip={timeExact(slice.start_ps)}>at {time(slice.start_ps)}</span>
    </p>
  );
}

function Belongs({ slice, state }: { slice: SliceDetails; state: TimelineState }) {
  const track = state.layout.value.bands.find((band) => band.node.id === slice.track);
  const flops = slice.flops ?? null;
  return (
    <p class="dots quiet">
      <span class={`kind-${slice.kind}`}>
        <span class="swatch" />
        {slice.kind}
      </span>
      {slice.category && <span>{slice.category}</span>}
      {slice.module && (
        <Link to={{ view: 'ops', module: slice.module }}>
          <Name text={slice.module} />
        </Link>
      )}
      {slice.scope && (
        <Link to={{ view: 'ops', scope: slice.scope }} title={slice.scope}>
          <Name text={shortScope(slice.scope)} />
        </Link>
      )}
      {slice.source && <SourceText source={slice.source} />}
      {slice.op && <Link to={{ view: 'ops', op: slice.op, in: slice.module ?? null, key: null }}>Op</Link>}
      {slice.op && slice.module && !absence(state.run, 'hlo') && (
        <Link to={{ view: 'hlo', module: moduleKey(slice), name: slice.op }}>HLO</Link>
      )}
      {slice.step !== null && slice.step !== undefined && (
        <Link to={{ view: 'timeline', step: String(slice.step) }}>step {slice.step}</Link>
      )}
      {flops !== null && (
        <span>{`${inScale(flops, rateScale([flops], 'FLOP'))}${THIN}${rateScale([flops], 'FLOP').unit}`}</span>
      )}
      {track && <span>{shown(track.node.name)}</span>}
    </p>
  );
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return UNKNOWN;
  return typeof value === 'object'
    ? JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
    : String(value);
}

function Args({ slice }: { slice: SliceDetails }) {
  const args = slice.args ?? [];
  if (args.length === 0) return null;
  return (
    <section class="wide">
      <h3 class="section">Args ({args.length})</h3>
      <dl class="pairs">
        {args.map((arg) => (
          <>
            <dt class="cut" data-tip={arg.type ? `${arg.name}: ${arg.type}` : arg.name}>
              <Name text={arg.name} />
            </dt>
            <dd>
              <Name text={valueText(arg.value)} mono />
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}

/* "from  PjitFunction  0.4 ms earlier": what the arrow joins, and how far away it is. */
function FlowLine({ run, slice, flow }: { run: string; slice: SliceDetails; flow: Flow }) {
  const out = flow.from.slice === slice.id;
  const other = out ? flow.to : flow.from;
  const details = useJson<SliceDetails>(other.slice === null ? null : 'api/slice', { run, id: other.slice });
  const apart = toBig(other.ts_ps) - toBig(out ? flow.from.ts_ps : flow.to.ts_ps);
  const words =
    apart === 0n ? 'at the same time' : `${time(apart < 0n ? -apart : apart)} ${apart < 0n ? 'earlier' : 'later'}`;
  const known = details.data !== null && details.data.id === other.slice;
  return (
    <>
      <dt>{out ? 'to' : 'from'}</dt>
      <dd>
        {other.slice ? (
          <Link to={{ slice: other.slice }}>{known ? <Name text={details.data!.name} /> : time(other.ts_ps)}</Link>
        ) : (
          time(other.ts_ps)
        )}{' '}
        <span class="faint">
          {words}, {flow.kind}
        </span>
      </dd>
    </>
  );
}

function Related({ run, slice }: { run: string; slice: SliceDetails }) {
  const parents = slice.parents ?? [];
  const children = slice.children ?? [];
  const flows = slice.flows ?? [];
  return (
    <>
      {parents.length > 0 && (
        <section>
          <h3 class="section">Parents</h3>
          <dl class="pairs">
            {parents.map((parent) => (
              <>
                <dt class="number">{time(parent.dur_ps)}</dt>
                <dd class="cut">
                  <Link to={{ slice: parent.id }}>
                    <Name text={parent.name} />
                  </Link>
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
      {children.length > 0 && (
        <section>
          <h3 class="section">Children</h3>
          <dl class="pairs">
            {children.slice(0, 12).map((child) => (
              <>
                <dt class="number">{time(child.total_ps)}</dt>
                <dd class="cut">
                  <Name text={child.name} />
                  {child.count > 1 && <span class="faint"> × {count(child.count)}</span>}
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
      {flows.length > 0 && (
        <section>
          <h3 class="section">Flows ({flows.length})</h3>
          <dl class="pairs">
            {flows.slice(0, FLOWS_MAX).map((flow) => (
              <FlowLine key={`${flow.kind} ${flow.id} ${flow.to.slice}`} run={run} slice={slice} flow={flow} />
            ))}
          </dl>
        </section>
      )}
    </>
  );
}

const VIA = { before: 'before it', flow: 'sent it', launch: 'launched it', inside: 'around it' };

/* What it waited for, the nearest first: its part of the wait, then the gap up to the next. */
function Chain({ state }: { state: TimelineState }) {
  const chain = state.chain.value;
  if (!state.chained.value || !chain) return null;
  const { rows } = chain;
  const scale = timeScale(rows.map((link) => link.covered_ps));
  return (
    <section class="chain">
      <h3 class="section">Waited for{rows.length > 0 ? ` (${rows.length})` : ''}</h3>
      <p class="quiet">
        {rows.length === 0
          ? 'Nothing was recorded before it.'
          : `${time(toBig(chain.covered_ps) + toBig(chain.gap_ps))} back: ${time(chain.covered_ps)} of these, ` +
            `${time(chain.gap_ps)} between them${chain.ended === 'limit' ? '; it goes on' : ''}.`}
      </p>
      <dl class="pairs">
        {rows.map((link) => (
          <>
            <dt class="number" data-tip={`${timeExact(link.covered_ps)} of ${timeExact(link.dur_ps)}`}>
              {inScale(link.covered_ps, scale)}
              {THIN}
              {scale.unit}
            </dt>
            <dd>
              <Link to={{ slice: link.id }}>
                <Name text={link.name} />
              </Link>{' '}
              <span class="faint">
                {VIA[link.via]}, {toNumber(link.gap_ps) === 0 ? 'no gap' : `gap ${time(link.gap_ps)}`}
              </span>
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}

/* How much of it lies on the critical path of its step, or how much later it could have ended. */
function OnPath({ state, slice }: { state: TimelineState; slice: SliceDetails }) {
  const asked = isPathShown(state) && toNumber(slice.dur_ps) > 0;
  const { data } = useJson<PathReply>(asked ? 'api/critical' : null, { run: state.run.id, slice: slice.id, limit: 1 });
  const of = data?.slice;
  if (!of || of.id !== slice.id || of.slack_ps === null) return null;
  const where = data.step.step === null ? 'the run' : `step ${data.step.step}`;
  return (
    <p class="dots on-path">
      {toNumber(of.on_path_ps!) > 0 ? (
        <span data-tip={timeExact(of.on_path_ps!)}>
          <strong>{time(of.on_path_ps!)}</strong> on the critical path of {where}
        </span>
      ) : (
        <span data-tip={`So much later it may end before ${where} does`}>
          slack <strong>{time(of.slack_ps)}</strong>
        </span>
      )}
      {of.waits_for !== null && (
        <span data-tip={of.evidence ?? undefined}>
          <Link to={{ slice: of.waits_for, piece: null }}>What it waited for</Link>
        </span>
      )}
    </p>
  );
}

export function SlicePane({ state, slice }: { state: TimelineState; slice: SliceDetails }) {
  return (
    <>
      <div class="slice-name" data-tip={shown(slice.name)}>
        <Name text={slice.name} />
      </div>
      <Figures slice={slice} />
      <OnPath slice={slice} state={state} />
      <Belongs slice={slice} state={state} />
      <div class="slice-grid">
        <PythonCalls slice={slice} />
        <KernelFacts slice={slice} />
        <Chain state={state} />
        <Related run={state.run.id} slice={slice} />
        <HloFacts run={state.run} slice={slice} />
        <Args slice={slice} />
      </div>
      <a class="hidden-text" href={address('api/slice', { run: state.run.id, id: slice.id })}>
        this slice as JSON
      </a>
    </>
  );
}
