/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in a line: the peak, who held most of it, and a sparkline; or why none is known. */
import type { Ps } from '../../data/json';
import { named, sentenceCase } from '../../model/sentence';
import { size, time, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';

export interface MemoryInShort {
  reason: string | null;
  allocator?: string;
  host?: string;
  peak_bytes?: number;
  peak_at_ps?: Ps;
  capacity_bytes?: number | null;
  before_bytes?: number | null;
  owner?: string | null;
  owner_scope?: string | null;
  owner_bytes?: number | null;
  owner_is_known?: boolean;
  points?: { at_ps: Ps; bytes: number }[];
}

const WIDTH = 200;
const HEIGHT = 32;

/* Levels hold until the next point. */
function pathOf(points: readonly { at_ps: Ps; bytes: number }[], peak: number): string {
  const first = toNumber(points[0]!.at_ps);
  const lasts = Math.max(1, toNumber(points.at(-1)!.at_ps) - first);
  const at = (point: { at_ps: Ps; bytes: number }) =>
    [
      ((toNumber(point.at_ps) - first) / lasts) * WIDTH,
      HEIGHT - (point.bytes / Math.max(1, peak)) * (HEIGHT - 2),
    ] as const;
  let path = `M0 ${HEIGHT}`;
  for (const point of points) {
    const [x, y] = at(point);
    path += `H${x.toFixed(1)}V${y.toFixed(1)}`;
  }
  return `${path}H${WIDTH}V${HEIGHT}Z`;
}

export function MemoryLine({ memory }: { memory: MemoryInShort | undefined }) {
  if (!memory) return null;
  const points = memory.points ?? [];
  const peak = memory.peak_bytes ?? 0;
  return (
    <section>
      <h2 class="section">
        <Link to={{ view: 'memory' }}>Memory</Link>
      </h2>
      {memory.reason !== null ? (
        <p class="quiet">{sentenceCase(memory.reason)}</p>
      ) : (
        <>
          {points.length > 1 && (
            <svg
              class="sparkline"
              viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`Bytes in use over time, peak ${size(peak)}`}
            >
              <path d={pathOf(points, peak)} />
            </svg>
          )}
          <p>
            Peak <strong>{size(peak)}</strong>
            {memory.capacity_bytes != null && ` of ${size(memory.capacity_bytes)}`} at {time(memory.peak_at_ps ?? 0)}
            {memory.allocator && (
              <>
                {' '}
                on <Name text={memory.allocator} />
              </>
            )}
            {memory.owner && memory.owner_bytes != null && (
              <>
                ; {size(memory.owner_bytes)} of it is <Name text={named(memory.owner.replace(/^\((.*)\)$/, '$1'))} />
              </>
            )}
            .
          </p>
        </>
      )}
    </section>
  );
}
