/* Device memory over time, where the allocators told it. */
import { query } from '../data/place';
import { useJson } from '../data/resource';
import { memoryRestriction } from '../data/restriction';
import { absence, type RunDetails } from '../data/types';
import { size, time } from '../model/numbers';
import { Link } from '../ui/link';
import { Empty, Failed, Waiting } from '../ui/states';
import { Name, SentenceLine } from '../ui/text';
import { hasReserved, MemoryChart, type Allocator } from './memory_chart';
import { SnapshotsView } from './snapshots';

interface MemoryReply {
  allocators?: Allocator[];
  reason?: string | null;
  reasons?: Record<string, string>;
}

const inOrder = new Intl.Collator('en', { numeric: true });

function Absent({ reason }: { reason: string | null }) {
  return (
    <Empty copy='jax.profiler.save_device_memory_profile("memory.prof")'>
      {reason ? `${reason.replace(/\.?$/, '.')} ` : 'No memory was recorded in this run. '}To record it:
    </Empty>
  );
}

const PARTS = [['time', 'over time'], ['snapshots', 'snapshots']] as const;

/* Over time, snapshots, or a choice where the run has both. */
export function MemoryView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const hasSnapshots = run.files.some((file) => file.format === 'pprof');
  const hasTime = absence(run, 'timeline') === null;
  if (absent !== null || !hasSnapshots) return <OverTime run={run} absent={absent} />;
  if (!hasTime) return <SnapshotsView run={run} />;
  const part = query.value.part === 'time' ? 'time' : 'snapshots';
  return (
    <div class="parts">
      <nav class="crumbs" aria-label="Memory">
        {PARTS.map(([key, words]) => (
          <Link to={{ part: key, by: null, zoom: null }} current={key === part}>
            {words}
          </Link>
        ))}
      </nav>
      {part === 'time' ? <OverTime run={run} absent={null} /> : <SnapshotsView run={run} />}
    </div>
  );
}

function OverTime({ run, absent }: { run: RunDetails; absent: string | null }) {
  const memory = useJson<MemoryReply>(absent === null ? 'api/memory' : null, { run: run.id, view: 'timeline', ...memoryRestriction() });
  if (absent !== null) return <Absent reason={absent} />;
  if (memory.error) return <Failed error={memory.error} />;
  if (!memory.data) return memory.waiting ? <Waiting what="Reading the memory events." progress={memory.progress} /> : null;
  const allocators = [...(memory.data.allocators ?? [])].sort((a, b) => inOrder.compare(a.host ?? '', b.host ?? '') || inOrder.compare(a.name, b.name));
  if (allocators.length === 0) return <Absent reason={memory.data.reason ?? memory.data.reasons?.allocators ?? null} />;
  const highest = allocators.reduce((a, b) => ((b.peak_bytes ?? 0) > (a.peak_bytes ?? 0) ? b : a));
  return (
    <div class="sections">
      {highest.peak_bytes !== null && (
        <SentenceLine
          sentence={[
            'Peak ',
            { strong: size(highest.peak_bytes) },
            highest.capacity_bytes ? ` of ${size(highest.capacity_bytes)}` : '',
            highest.peak_at_ps === null ? '' : ` at ${time(highest.peak_at_ps)}`,
            ` in ${highest.name}.`,
          ]}
        />
      )}
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
      {allocators.map((allocator) => (
        <section key={`${allocator.host} ${allocator.name}`}>
          <h2 class="section">
            <Name text={allocator.name} />
            {allocator.host && <span class="quiet"> {allocator.host}</span>}
            {allocator.capacity_bytes !== null && <span class="quiet">{`, limit ${size(allocator.capacity_bytes)}`}</span>}
          </h2>
          <MemoryChart allocator={allocator} />
        </section>
      ))}
    </div>
  );
}
