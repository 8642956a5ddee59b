/* SPDX-License-Identifier: Apache-2.0 */
/* The first answer: how long a step takes, where it goes, what to look at next. */
import { restriction, stepRestriction } from '../../data/restriction';
import { useJson } from '../../data/resource';
import type { Finding } from '../../data/findings';
import { absence, type Note, type Overview, type RunDetails, type StepList } from '../../data/types';
import { plural, share, time, toNumber } from '../../model/numbers';
import { measuredOn, sentenceCase } from '../../model/sentence';
import { spoken } from '../../model/spoken';
import { Link } from '../../ui/link';
import { Loaded } from '../../ui/states';
import { KindLegend } from '../../ui/kind_legend';
import { StepPicture } from '../../ui/step_picture';
import { Prose, SentenceLine, Words } from '../../ui/text';
import { Devices } from './devices';
import { BeforeSteps, Mfu } from './facts';
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
  memory?: MemoryInShort;
  places?: Places;
  path?: { sentence: string; step: number | null };
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

const missingWords = (absent: number, notes: number): string =>
  [absent > 0 && plural(absent, 'page'), notes > 0 && plural(notes, 'note')].filter(Boolean).join(', ');

/* In a line that opens. */
function Missing({ run, notes }: { run: RunDetails; notes: readonly Note[] }) {
  const absent = Object.keys(run.views ?? {}).flatMap((name) =>
    absence(run, name) === null ? [] : [{ name, why: absence(run, name)! }],
  );
  if (absent.length === 0 && notes.length === 0) return null;
  return (
    <details>
      <summary class="section">Missing and odd: {missingWords(absent.length, notes.length)}</summary>
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
    </details>
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

/* What made the step as long. */
function PathLine({ path }: { path: OverviewReply['path'] }) {
  if (!path?.sentence) return null;
  return (
    <p class="path-sentence">
      <Words text={path.sentence} /> <Link to={{ view: 'why' }}>Why, and what if</Link>
    </p>
  );
}

function Answer({ run, overview }: { run: RunDetails; overview: OverviewReply }) {
  const steps = useJson<StepList>('api/steps', { run: run.id, ...stepRestriction(), limit: STEPS_MAX });
  const rows = steps.data?.rows ?? [];
  const median = overview.step?.median_ps ?? null;
  const counted = overview.step?.counted ?? overview.step?.count ?? 0;
  return (
    <>
      <SentenceLine sentence={spoken(overview.sentence)} />
      <PathLine path={overview.path} />
      <p class="basis">{basisOf(run, overview)}</p>
      <Mfu overview={overview} />
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
        <TopOps run={run} overview={overview} />
        <div class="overview-side">
          <Devices run={run} overview={overview} />
          <PlacesOfOps places={overview.places} />
          <MemoryLine memory={overview.memory} />
          <BeforeSteps run={run} steps={rows} />
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
