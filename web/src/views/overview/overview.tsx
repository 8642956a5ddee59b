/* SPDX-License-Identifier: Apache-2.0 */
/* The first answer: how long a step takes, where it goes, what to look at next. */
import type { Ps } from '../../data/json';
import { restriction, stepRestriction } from '../../data/restriction';
import { useJson } from '../../data/resource';
import type { Finding } from '../../data/findings';
import { absence, type Note, type Overview, type RunDetails, type StepList } from '../../data/types';
import { plural, share, time, toNumber, UNKNOWN } from '../../model/numbers';
import { measuredOn, sentenceCase } from '../../model/sentence';
import { spoken } from '../../model/spoken';
import { Link } from '../../ui/link';
import { Loaded } from '../../ui/states';
import { KindLegend } from '../../ui/kind_legend';
import { StepPicture } from '../../ui/step_picture';
import { Name, Prose, SentenceLine } from '../../ui/text';
import { Findings } from './findings';
import { MemoryLine, type MemoryInShort } from './memory_line';
import { PlacesOfOps, type Places } from './places';
import { TopOps } from './top_ops';

const STEPS_MAX = 2000;

interface OverviewReply extends Overview {
  sentence: string;
  basis?: string | null;
  findings: Finding[];
  finding_count: number;
  breakdown_total_ps?: Ps;
  breakdown_of?: 'steps' | 'capture';
  memory?: MemoryInShort;
  duration_ps?: Ps;
  places?: Places;
  duty?: { busy_ps: Ps | null; work_ps: Ps | null; wait_ps: Ps | null; hidden_communication_ps: Ps | null };
  idle_causes?: { cause: string; self_ps: Ps; share: number | null }[];
}

function Breakdown({ overview }: { overview: Overview }) {
  return (
    <div class="stack" role="img" aria-label="Breakdown by kind">
      {overview.breakdown
        .filter((part) => (part.share ?? 0) > 0)
        .map((part) => (
          <div
            key={part.kind}
            class={`kind-${part.kind}`}
            style={{ width: `${part.share * 100}%` }}
            data-tip={`${part.label ?? part.kind} ${time(part.self_ps)}, ${share(part.share)}`}
          >
            {part.share >= 0.08 && (part.label ?? part.kind)}
          </div>
        ))}
    </div>
  );
}

/* Where a device has events in a corner of the capture only, its share is of that corner. */
function cornerOf(overview: OverviewReply): string | null {
  const whole = toNumber(overview.duration_ps ?? 0);
  const hulls = overview.devices.map((device) => toNumber(device.busy_ps) + toNumber(device.idle_ps));
  const longest = Math.max(0, ...hulls);
  return hulls.length > 0 && longest < whole / 10
    ? `First to last event are ${time(longest)} of ${time(whole)}${hulls.length > 1 ? ' at most' : ''}.`
    : null;
}

/* A long list of devices is a page of its own; here the first tell how they are apart. */
const DEVICES_SHOWN = 16;

/* What a device did in the counted time: its own work, waiting, nothing. */
function dutyOf(overview: OverviewReply): string | null {
  const total = toNumber(overview.breakdown_total_ps ?? 0);
  const { work_ps: work = null, wait_ps: wait = null } = overview.duty ?? {};
  if (total === 0 || work === null || wait === null) return null;
  const parts = [`work ${share(toNumber(work) / total)}`];
  if (toNumber(wait) > 0) parts.push(`waiting ${share(toNumber(wait) / total)}`);
  const causes = (overview.idle_causes ?? [])
    .filter((part) => (part.share ?? 0) >= 0.01)
    .sort((a, b) => toNumber(b.self_ps) - toNumber(a.self_ps));
  if (causes.length > 0)
    parts.push(
      `nothing to do while the host: ${causes
        .slice(0, 3)
        .map((part) => `${part.cause} ${share(part.share ?? 0)}`)
        .join(', ')}`,
    );
  return `Of ${overview.breakdown_of === 'capture' ? 'the capture' : 'the steps'}: ${parts.join('; ')}.`;
}

function Devices({ overview }: { overview: OverviewReply }) {
  const { devices } = overview;
  if (devices.length === 0) return null;
  const duty = dutyOf(overview);
  const corner = cornerOf(overview);
  return (
    <section>
      <h2 class="section">
        <Link to={{ view: 'hosts' }}>Devices</Link> <span class="quiet">busy, first to last event</span>
      </h2>
      <dl class="device-bars">
        {devices.slice(0, DEVICES_SHOWN).map((device, index) => (
          <div key={index}>
            <dt class="cut">
              <Name text={device.name.replace(/^(\/device:\w+:|GPU )(?=\d+$)/, 'device ')} />
            </dt>
            <dd data-tip={`busy ${time(device.busy_ps)}, idle ${time(device.idle_ps)} of its own first to last event`}>
              <span class="bar-track" aria-hidden="true">
                <span style={{ width: `${(device.busy_share ?? 0) * 100}%` }} />
              </span>
              <span class="number">{device.busy_share === null ? UNKNOWN : share(device.busy_share)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {devices.length > DEVICES_SHOWN && (
        <p class="quiet">and {plural(devices.length - DEVICES_SHOWN, 'more device')}</p>
      )}
      {corner && <p class="quiet">{corner}</p>}
      {duty && <p class="quiet">{duty}</p>}
    </section>
  );
}

function Missing({ run, notes }: { run: RunDetails; notes: readonly Note[] }) {
  const absent = Object.keys(run.views ?? {}).flatMap((name) =>
    absence(run, name) === null ? [] : [{ name, why: absence(run, name)! }],
  );
  if (absent.length === 0 && notes.length === 0) return null;
  return (
    <section>
      <h2 class="section">Missing and odd</h2>
      <ul class="plain-list">
        {absent.map(({ name, why }) => (
          <li key={name}>
            {name}:{' '}
            <span class="quiet">
              <Prose text={why} />
            </span>
          </li>
        ))}
        {notes.slice(0, 6).map((note) => (
          <li key={note.kind + note.message}>
            <span class={note.severity === 'info' ? undefined : note.severity === 'error' ? 'error' : 'warn'}>
              {note.message}
            </span>
            {note.host && <span class="quiet"> {note.host}</span>}
          </li>
        ))}
      </ul>
      {notes.length > 6 && <Link to={{ view: 'files' }}>{plural(notes.length - 6, 'more note')}</Link>}
    </section>
  );
}

/* By what rule, on what. */
function basisOf(run: RunDetails, overview: OverviewReply): string {
  const rule = overview.step && overview.step.count > 0 ? overview.step.rule_text : null;
  const parts = [
    rule && `Steps: ${rule}`,
    overview.basis && `Measured on ${measuredOn(run, overview.devices.length, overview.basis)}`,
  ];
  return parts
    .filter((part): part is string => Boolean(part))
    .map(sentenceCase)
    .join(' ');
}

function Answer({ run, overview }: { run: RunDetails; overview: OverviewReply }) {
  const steps = useJson<StepList>('api/steps', { run: run.id, ...stepRestriction(), limit: STEPS_MAX });
  const rows = steps.data?.rows ?? [];
  const median = overview.step?.median_ps ?? null;
  const counted = overview.step?.counted ?? overview.step?.count ?? 0;
  return (
    <>
      <SentenceLine sentence={spoken(overview.sentence)} />
      <p class="basis">{basisOf(run, overview)}</p>
      {counted > 0 ? (
        <StepPicture
          steps={rows}
          medianPs={median === null ? null : toNumber(median)}
          height={180}
          parts={overview.breakdown}
          counted={counted}
        />
      ) : (
        toNumber(overview.breakdown_total_ps ?? 0) > 0 && (
          <>
            <Breakdown overview={overview} />
            <KindLegend parts={overview.breakdown} steps={0} />
          </>
        )
      )}
      <div class="overview-columns">
        <Findings run={run} first={overview.findings} all={overview.finding_count} />
        <TopOps run={run} overview={overview} steps={rows} />
        <div class="overview-side">
          <Devices overview={overview} />
          <PlacesOfOps places={overview.places} />
          <MemoryLine memory={overview.memory} />
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
