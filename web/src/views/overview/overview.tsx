/* The first answer: how long a step takes, where it goes, what to look at next. */
import { restriction, stepRestriction } from '../../data/restriction';
import { useJson } from '../../data/resource';
import { absence, type Note, type Overview, type RunDetails, type StepList } from '../../data/types';
import { plural, share, time, toNumber } from '../../model/numbers';
import { measuredOn, overviewSentence } from '../../model/sentence';
import { Link } from '../../ui/link';
import { Loaded } from '../../ui/states';
import { barsWidth, StepBars } from '../../ui/step_bars';
import { Name, SentenceLine } from '../../ui/text';
import { TopOps } from './top_ops';

const STEPS_MAX = 2000;
/* So few bars leave room for the legend at their right. */
const BARS_BESIDE_MAX = 10;

interface OverviewReply extends Overview {
  basis?: string | null;
}

/* Kind, share, and time per step where there are steps. */
function Legend({ overview, steps }: { overview: Overview; steps: number }) {
  return (
    <ul class="legend" aria-label="Kinds of work">
      {overview.breakdown
        .filter((part) => part.share > 0 || part.kind === 'idle')
        .map((part) => (
          <li key={part.kind} class={`kind-${part.kind}`} data-tip={`${time(part.self_ps)} in all${steps > 1 ? `, ${plural(steps, 'step')}` : ''}`}>
            <span>
              <span class="swatch" />
              {part.kind === 'idle' ? 'idle' : <Link to={{ view: 'ops', q: `kind:${part.kind}` }}>{part.kind}</Link>}
            </span>
            <span class="number">{share(part.share)}</span>
            {steps > 0 && <span class="number quiet">{time(toNumber(part.self_ps) / steps)} a step</span>}
          </li>
        ))}
    </ul>
  );
}

function Breakdown({ overview }: { overview: Overview }) {
  return (
    <div class="stack" role="img" aria-label="Breakdown by kind">
      {overview.breakdown
        .filter((part) => part.share > 0)
        .map((part) => (
          <div key={part.kind} class={`kind-${part.kind}`} style={{ width: `${part.share * 100}%` }} data-tip={`${part.kind} ${time(part.self_ps)}, ${share(part.share)}`}>
            {part.share >= 0.08 && part.kind}
          </div>
        ))}
    </div>
  );
}

function Devices({ devices }: { devices: Overview['devices'] }) {
  if (devices.length === 0) return null;
  return (
    <section>
      <h2 class="section">
        Devices <span class="quiet">busy, first to last event</span>
      </h2>
      <dl class="device-bars">
        {devices.map((device) => (
          <div key={device.name}>
            <dt class="cut">
              <Name text={device.name} />
            </dt>
            <dd data-tip={`busy ${time(device.busy_ps)}, idle ${time(device.idle_ps)} of its own first to last event`}>
              <span class="bar-track" aria-hidden="true">
                <span style={{ width: `${device.busy_share * 100}%` }} />
              </span>
              <span class="number">{share(device.busy_share)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Findings({ findings }: { findings: Overview['findings'] }) {
  if (findings.length === 0) return null;
  return (
    <section>
      <h2 class="section">What to do first</h2>
      <ol class="findings">
        {findings.map((finding) => (
          <li key={finding.rule + finding.text}>
            {finding.text}
            {finding.win_ps !== null && <strong> {time(finding.win_ps)}</strong>}
            <span class="quiet"> {finding.remedy}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Missing({ run, notes }: { run: RunDetails; notes: readonly Note[] }) {
  const absent = Object.keys(run.views ?? {}).flatMap((name) => (absence(run, name) === null ? [] : [{ name, why: absence(run, name)! }]));
  if (absent.length === 0 && notes.length === 0) return null;
  return (
    <section>
      <h2 class="section">Missing and odd</h2>
      <ul class="plain-list">
        {absent.map(({ name, why }) => (
          <li key={name}>
            {name}: <span class="quiet">{why}</span>
          </li>
        ))}
        {notes.slice(0, 6).map((note) => (
          <li key={note.kind + note.message}>
            <span class={note.severity === 'info' ? undefined : note.severity === 'error' ? 'error' : 'warn'}>{note.message}</span>
            {note.host && <span class="quiet"> {note.host}</span>}
          </li>
        ))}
      </ul>
      {notes.length > 6 && <Link to={{ view: 'files' }}>{plural(notes.length - 6, 'more note')}</Link>}
    </section>
  );
}

function sentenceCase(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

/* By what rule, on what. */
function basisOf(run: RunDetails, overview: OverviewReply): string {
  const rule = overview.step && overview.step.count > 0 ? overview.step.rule_text : null;
  const parts = [rule && `Steps: ${rule}`, overview.basis && `Measured on ${measuredOn(run, overview.devices.length, overview.basis)}`];
  return parts.filter((part): part is string => Boolean(part)).map(sentenceCase).join(' ');
}

function Answer({ run, overview }: { run: RunDetails; overview: OverviewReply }) {
  const steps = useJson<StepList>('api/steps', { run: run.id, ...stepRestriction(), limit: STEPS_MAX });
  const rows = steps.data?.rows ?? [];
  const median = overview.step?.median_ps ?? null;
  const counted = overview.step?.counted ?? overview.step?.count ?? 0;
  return (
    <>
      <SentenceLine sentence={overviewSentence(overview, run)} />
      <p class="basis">{basisOf(run, overview)}</p>
      {counted > 0 ? (
        <div class={rows.length > BARS_BESIDE_MAX ? undefined : 'overview-picture'}>
          <div class="overview-bars" style={rows.length > BARS_BESIDE_MAX ? undefined : { flexBasis: `${barsWidth(rows.length)}px` }}>
            {rows.length > 0 && <StepBars steps={rows} medianPs={median === null ? null : toNumber(median)} height={180} />}
          </div>
          <Legend overview={overview} steps={counted} />
        </div>
      ) : (
        <>
          <Breakdown overview={overview} />
          <Legend overview={overview} steps={0} />
        </>
      )}
      <div class="overview-columns">
        <TopOps run={run} overview={overview} steps={rows} />
        <div class="overview-side">
          <Findings findings={overview.findings} />
          <Devices devices={overview.devices} />
          <Missing run={run} notes={overview.notes} />
        </div>
      </div>
    </>
  );
}

export function OverviewView({ run }: { run: RunDetails }) {
  const overview = useJson<OverviewReply>('api/overview', { run: run.id, ...restriction.value });
  return (
    <Loaded of={overview} what="Adding up the steps.">
      {(data) => <Answer run={run} overview={data} />}
    </Loaded>
  );
}
