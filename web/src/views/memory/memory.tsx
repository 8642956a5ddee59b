/* SPDX-License-Identifier: Apache-2.0 */
/* Memory three ways, side by side: over time, as compiled, as saved. */
import type { ComponentChildren } from 'preact';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { memoryRestriction } from '../../data/restriction';
import type { Allocator, LayersReply, TimelineReply } from '../../data/memory';
import { absence, type RunDetails } from '../../data/types';
import { share, size, time } from '../../model/numbers';
import { strong, type Sentence } from '../../model/sentence';
import { Link } from '../../ui/link';
import { Empty, Failed, Waiting } from '../../ui/states';
import { Name, SentenceLine } from '../../ui/text';
import { HeapView } from './heap';
import { hasReserved, MemoryChart, spanOf } from './chart';
import { OwnerChart } from './owner_chart';
import { Owners } from './owners';
import { SnapshotsView } from './snapshots';

const inOrder = new Intl.Collator('en', { numeric: true });
const ofHost = (allocator: Allocator): boolean => /host|CPU/.test(allocator.name); // stands below the devices

function recorder(run: RunDetails): string {
  if (run.framework === 'pytorch') return 'torch.profiler.profile(profile_memory=True)';
  return run.formats.includes('nsys-sqlite')
    ? 'nsys profile --cuda-memory-usage=true'
    : 'jax.profiler.save_device_memory_profile("memory.prof")';
}

function Absent({ run, reason }: { run: RunDetails; reason: string | null }) {
  return (
    <Empty copy={recorder(run)}>
      {reason
        ? `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.?$/, '.')} `
        : 'No memory was recorded in this run. '}
      To record it:
    </Empty>
  );
}

const PARTS = [
  [
    'time',
    'over time',
    'What the allocators recorded while the program ran: everything on the device, whoever allocated it.',
  ],
  [
    'heap',
    'static heap of a module',
    'What the compiler planned for one module: exact at every instruction, without memory outside the module.',
  ],
  [
    'snapshots',
    'snapshots',
    'What was alive when the program saved it, by the Python calls that made it; ' +
      'without the memory that a module needs while it runs.',
  ],
] as const;
type Part = (typeof PARTS)[number][0];

/* Files that hold what was alive at one moment. */
const SNAPSHOTS: readonly string[] = ['pprof', 'torch-snapshot', 'oom-report'];

/* Which of the three the run has, in their order. */
function partsOf(run: RunDetails, allocators: readonly Allocator[]): Part[] {
  const has: Record<Part, boolean> = {
    time: allocators.length > 0,
    heap: absence(run, 'hlo') === null,
    snapshots: run.files.some((file) => file.format !== null && SNAPSHOTS.includes(file.format)),
  };
  return PARTS.map(([key]) => key).filter((key) => has[key]);
}

const RECORD: Record<Part, string> = {
  time: 'No allocator recorded events in this run.',
  heap: 'The files of this run contain no compiled module.',
  snapshots:
    'This run has no memory snapshot: jax.profiler.save_device_memory_profile("memory.prof") saves one, ' +
    'in PyTorch torch.cuda.memory._dump_snapshot("snapshot.pickle").',
};

/* All three, also what the run has not, with what is missing. */
function Parts({ parts, part }: { parts: readonly Part[]; part: Part }) {
  return (
    <nav class="crumbs memory-parts" aria-label="Memory">
      {PARTS.map(([key, words, counts]) =>
        parts.includes(key) ? (
          <Link
            to={{ part: key, by: null, zoom: null, at: null, sort: null, group: null, columns: null, q: null }}
            current={key === part}
            title={counts}
          >
            {words}
          </Link>
        ) : (
          <span class="quiet" data-tip={RECORD[key]}>{`${words} –`}</span>
        ),
      )}
      <span class="quiet memory-counts">{PARTS.find(([key]) => key === part)![2]}</span>
    </nav>
  );
}

export function MemoryView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const memory = useJson<TimelineReply>(absent === null ? 'api/memory' : null, {
    run: run.id,
    view: 'timeline',
    ...memoryRestriction(),
  });
  if (absent !== null) return <Absent run={run} reason={absent} />;
  if (memory.error) return <Failed error={memory.error} />;
  if (!memory.data)
    return memory.waiting ? <Waiting what="Reading the memory events." progress={memory.progress} /> : null;
  const allocators = [...(memory.data.allocators ?? [])].sort(
    (a, b) =>
      Number(ofHost(a)) - Number(ofHost(b)) ||
      inOrder.compare(a.host ?? '', b.host ?? '') ||
      inOrder.compare(a.name, b.name),
  );
  const parts = partsOf(run, allocators);
  const asked = query.value.part as Part | undefined;
  const part =
    asked && parts.includes(asked)
      ? asked
      : query.value.module && parts.includes('heap')
        ? 'heap'
        : (parts[0] ?? 'time');
  const nav = <Parts parts={parts} part={part} />;
  if (part === 'heap') return <HeapView run={run} nav={nav} />;
  if (part === 'time')
    return allocators.length > 0 ? (
      <OverTime run={run} allocators={allocators} nav={nav} />
    ) : (
      <Absent run={run} reason={memory.data.reason ?? memory.data.reasons?.allocators ?? null} />
    );
  return <SnapshotsView run={run} nav={nav} />;
}

function sentenceOf(highest: Allocator): Sentence {
  const sentence: Sentence = [
    'Peak ',
    strong(size(highest.peak_bytes!)),
    highest.capacity_bytes ? ` of ${size(highest.capacity_bytes)}` : '',
  ];
  if (highest.peak_at_ps !== null) sentence.push(` at ${time(highest.peak_at_ps)}`);
  sentence.push(` on ${highest.name}`);
  if (highest.before_bytes) sentence.push('; ', strong(size(highest.before_bytes)), ' were there before the capture');
  return [...sentence, '.'];
}

/* What an allocator's numbers count, and those that the picture does not show. */
function factsOf(allocator: Allocator): string {
  const facts = [
    allocator.capacity_bytes !== null && `limit ${size(allocator.capacity_bytes)}`,
    allocator.pool_bytes != null && `pool ${size(allocator.pool_bytes)}`,
    allocator.fragmentation != null && `fragmentation ${share(allocator.fragmentation)} at the peak`,
    allocator.lifetime_peak_bytes != null &&
      `its own peak since it began ${size(allocator.lifetime_peak_bytes)}, without reserved memory`,
    allocator.levels === 'summed' && 'added up from allocations and frees: a lower bound',
  ];
  return facts
    .filter((fact) => fact !== false)
    .map((fact) => `, ${fact}`)
    .join('');
}

/* How the address names one: the host too where there are several. */
const keyOf = (allocator: Allocator, isMany: boolean): string =>
  isMany ? `${allocator.host} ${allocator.name}` : allocator.name;

/* What the address names, however many hosts there were then; undefined where this run has no such. */
const namedIn = (allocators: readonly Allocator[], key: string): Allocator | undefined =>
  allocators.find((one) => keyOf(one, true) === key) ?? allocators.find((one) => keyOf(one, false) === key);

const MANY = 2; // charts; more are lower, so that the table still stands on the first screen

function OverTime({
  run,
  allocators,
  nav,
}: {
  run: RunDetails;
  allocators: readonly Allocator[];
  nav: ComponentChildren;
}) {
  const span = spanOf(allocators);
  const highest = allocators.reduce((a, b) => ((b.peak_bytes ?? 0) > (a.peak_bytes ?? 0) && !ofHost(b) ? b : a));
  const isMany = new Set(allocators.map((one) => one.host)).size > 1;
  const asked = query.value.allocator;
  const named = asked === undefined ? highest : namedIn(allocators, asked);
  const chosen = named ?? highest;
  const at = (named && query.value.at) ?? null; // a moment in another allocator is none in this one
  const by = ['op', 'scope', 'shape', 'category'].find((one) => one === query.value.by) ?? 'op';
  const layers = useJson<LayersReply>(chosen.peak_bytes === null ? null : 'api/memory', {
    run: run.id,
    view: 'layers',
    allocator: chosen.name,
    by,
    ...memoryRestriction(),
    ...(chosen.host ? { host: chosen.host } : {}),
  });
  const owned = (layers.data?.owner_count ?? 0) > 0 && (layers.data?.moments_ps?.length ?? 0) > 1 ? layers.data! : null;
  return (
    <div class="sections">
      {highest.peak_bytes !== null && <SentenceLine sentence={sentenceOf(highest)} />}
      {nav}
      {allocators.some(hasReserved) && (
        <ul class="legend" aria-label="Parts of the memory">
          <li>
            <span class="swatch allocated" /> allocated
          </li>
          <li>
            <span class="swatch reserved" /> reserved above it; it counts towards the peak
          </li>
        </ul>
      )}
      <div class={allocators.length > MANY ? 'memory-charts many' : 'memory-charts'}>
        {allocators.map((allocator) => {
          const key = keyOf(allocator, isMany);
          const isChosen = allocator === chosen;
          return (
            <section key={key}>
              <h2 class="section">
                {allocators.length > 1 ? (
                  <Link
                    to={{ allocator: key, at }}
                    current={isChosen}
                    title="What is in memory then: see the table below"
                  >
                    <Name text={allocator.name} />
                  </Link>
                ) : (
                  <Name text={allocator.name} />
                )}
                {isMany && <span class="quiet"> {allocator.host}</span>}
                {allocators.length === 1 && <span class="quiet">{factsOf(allocator)}</span>}
              </h2>
              {isChosen && owned && allocators.length <= MANY ? (
                <OwnerChart
                  allocator={allocator}
                  reply={owned}
                  height={200}
                  at={at}
                  span={span}
                  onPick={(moment) => go({ allocator: key, at: moment })}
                />
              ) : (
                <MemoryChart
                  allocator={allocator}
                  height={allocators.length > MANY ? 112 : 200}
                  at={isChosen ? at : null}
                  span={span}
                  onPick={(moment) => go({ allocator: key, at: moment })}
                />
              )}
            </section>
          );
        })}
      </div>
      {chosen.peak_bytes !== null && (
        <section>
          {allocators.length > 1 && (
            <h2 class="section">
              <Name text={chosen.name} />
              {isMany && <span class="quiet"> {chosen.host}</span>}
              <span class="quiet">{factsOf(chosen)}</span>
            </h2>
          )}
          {owned && allocators.length > MANY && (
            <OwnerChart
              allocator={chosen}
              reply={owned}
              height={160}
              at={at}
              span={span}
              onPick={(moment) => go({ allocator: keyOf(chosen, isMany), at: moment })}
            />
          )}
          <Owners run={run} allocator={chosen} at={at} />
        </section>
      )}
    </div>
  );
}
