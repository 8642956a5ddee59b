/* Device memory over time, where the allocators told it. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { query } from '../data/place';
import { useJson } from '../data/resource';
import { memoryRestriction } from '../data/restriction';
import type { Ps } from '../data/json';
import { absence, type RunDetails } from '../data/types';
import { readTokens } from '../draw/tokens';
import { size, time, toNumber } from '../model/numbers';
import { Link } from '../ui/link';
import { theme } from '../ui/settings';
import { Empty, Failed, Waiting } from '../ui/states';
import { Name, SentenceLine } from '../ui/text';
import { SnapshotsView } from './snapshots';

interface Sample {
  at_ps: Ps;
  allocated_bytes: number | null;
  reserved_bytes: number | null;
}

interface Allocator {
  name: string;
  host: string | null;
  samples: Sample[];
  peak_bytes: number | null;
  peak_at_ps: Ps | null;
  capacity_bytes: number | null;
}

interface MemoryReply {
  allocators?: Allocator[];
  reason?: string | null;
  reasons?: Record<string, string>;
}

const HEIGHT = 200;
/* 1, 2, 4 ... bytes: marks at whole KiB, MiB, GiB. */
const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

function Chart({ allocator }: { allocator: Allocator }) {
  const box = useRef<HTMLDivElement>(null);
  const now = theme.value;
  useEffect(() => {
    const element = box.current!;
    const tokens = readTokens();
    const compute = tokens.kinds[0]!;
    const axis = { stroke: tokens.ink2, grid: { stroke: tokens.line, width: 1 }, ticks: { stroke: tokens.line }, font: `11px ${tokens.font}` };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false } },
        series: [{}, { stroke: compute.strokeCss, fill: tokens.bg3, width: 1.5, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false } }],
        axes: [
          { ...axis, values: (_self, ticks) => ticks.map((tick) => time(tick)) },
          { ...axis, size: 80, incrs: BINARY_STEPS, values: (_self, ticks) => ticks.map((tick) => size(tick)) },
        ],
      },
      [allocator.samples.map((sample) => toNumber(sample.at_ps)), allocator.samples.map((sample) => sample.allocated_bytes)],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => (watch.disconnect(), chart.destroy());
  }, [allocator, now]);
  return <div ref={box} role="img" aria-label={`Memory of ${allocator.name} over time`} />;
}

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
  const allocators = memory.data.allocators ?? [];
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
      {allocators.map((allocator) => (
        <section key={`${allocator.host} ${allocator.name}`}>
          <h2 class="section">
            <Name text={allocator.name} />
            {allocator.host && <span class="quiet"> {allocator.host}</span>}
          </h2>
          <Chart allocator={allocator} />
        </section>
      ))}
    </div>
  );
}
