/* SPDX-License-Identifier: Apache-2.0 */
/* What ran on GPUs: each kernel with its launch shape, what keeps it from filling the device, and how long it
 * waited. */
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { opRestriction } from '../../data/restriction';
import type { RunDetails } from '../../data/types';
import { withOccupancy, kernelsSentence, type KernelList, type KernelRow } from '../../model/kernels';
import { toNumber } from '../../model/numbers';
import { sentenceCase } from '../../model/sentence';
import { By } from '../../ui/by';
import { Link } from '../../ui/link';
import { Empty, Failed, HowToRecordDevices, isWhole, NothingHere, Waiting } from '../../ui/states';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { SentenceLine } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import { BY, goalOf, timelineOf } from './cells';
import { columnsOf } from './columns';

const EACH = new Set(['activity', 'range']); // a row is one thing that happened
const SORTS: Record<string, string> = { activity: 'start_ps', range: 'start_ps', annotation: '-device_ps,-total_ps' };
const ROWS_MAX = 5000;
const SHAPES_MAX = 10_000;

export function KernelsView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const by = query.value.by !== undefined && query.value.by in BY ? query.value.by : 'kernel';
  const gone = absent !== null && (by === 'kernel' || by === 'variant' || by === 'activity');
  const sort = query.value.sort ?? SORTS[by] ?? '-total_ps';
  const params = { run: run.id, by, ...opRestriction.value, sort: query.value.sort };
  const list = useJson<KernelList>(gone ? null : 'api/kernels', { ...params, limit: ROWS_MAX });
  const data = list.data?.by === by ? list.data : null;
  const several = by === 'kernel' && (data?.rows ?? []).some((row) => (row.variant_count ?? 1) > 1);
  const shapes = useJson<KernelList>(several ? 'api/kernels' : null, {
    ...params,
    by: 'variant',
    sort: undefined,
    limit: SHAPES_MAX,
  });
  const rows =
    several && shapes.data?.by === 'variant' ? withOccupancy(data?.rows ?? [], shapes.data.rows) : (data?.rows ?? []);
  const table = useTable<KernelRow>({
    columns: columnsOf(rows, by),
    rows,
    sort,
    also: { kind: (row) => row.kind ?? null },
  });
  if (gone) {
    return (
      <Empty copy="nsys export --type sqlite REPORT.nsys-rep">
        {sentenceCase(absent)} <Link to={{ by: 'annotation' }}>Its annotations</Link> tell what launched the work.
        Kernels are in profiles that <code class="mono">jax.profiler.trace</code> took on a GPU, and in reports of
        Nsight Systems once they are exported:
      </Empty>
    );
  }
  return (
    <>
      {data && data.row_count > 0 && <SentenceLine sentence={kernelsSentence(data)} />}
      {data?.notes
        .filter((note) => note.kind !== 'ncu-counts-launches')
        .map((note) => (
          <p key={note.message} class="basis">
            {sentenceCase(note.message)}
          </p>
        ))}
      {data &&
        data.row_count === 0 &&
        (by === 'kernel' && isWhole() ? (
          <HowToRecordDevices framework={run.framework}>No kernel was recorded in this run.</HowToRecordDevices>
        ) : (
          <NothingHere did={`No ${BY[by]!} was recorded`} />
        ))}
      <TableBar
        table={table}
        noun={BY[by]!}
        total={data?.row_count ?? 0}
        example="gemm occupancy<50% total>1ms"
        file={`${run.name}-${by}`}
        csv={address('api/kernels', { ...params, limit: 10_000, format: 'csv' })}
      >
        <By value={by} words={BY} onChoose={(word) => go({ by: word, sort: null, key: null, columns: null }, 'push')} />
      </TableBar>
      {list.error && <Failed error={list.error} />}
      {!data && list.waiting && <Waiting what="Adding up." progress={list.progress} />}
      {data && (
        <TableBelow
          table={table}
          total={data.row_count}
          label={EACH.has(by) ? `Each ${BY[by]}` : `Time by ${BY[by]}`}
          rowKey={(row) => row.slice ?? row.key}
          weight={(row) => toNumber(row.total_ps ?? row.dur_ps ?? 0)}
          focused={query.value.key ?? null}
          onFocusRow={(row) => go({ key: row.slice ?? row.key }, 'replace')}
          onOpen={(row) => go(goalOf(row), 'push')}
          openOn="enter"
          onShow={(row) => go(timelineOf(row, data.counted), 'push')}
          scroll
        />
      )}
    </>
  );
}
