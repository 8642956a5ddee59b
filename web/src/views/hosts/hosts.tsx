/* SPDX-License-Identifier: Apache-2.0 */
/* Which host or device the others wait for: sentence, grid of steps, table. */
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { stepRestriction } from '../../data/restriction';
import type { HostRow, HostStep, HostTable, Overview, RunDetails } from '../../data/types';
import { count, inScale, plural, shareCell, timeExact, timeScale, toNumber, UNKNOWN } from '../../model/numbers';
import { sentenceCase } from '../../model/sentence';
import { hostsSentence } from '../../model/steps_words';
import { Link } from '../../ui/link';
import { Failed, HowToMarkSteps, HowToRecordDevices, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { useTable } from '../../ui/use_table';
import { CollectivesTable } from './collectives';
import { HostGrid } from './grid';

const ROWS_MAX = 10_000;
const EVENTS = 'From first to last event';

type PsKey =
  | 'busy_ps'
  | 'idle_ps'
  | 'communication_ps'
  | 'hidden_communication_ps'
  | 'op_wait_ps'
  | 'wait_ps'
  | 'lag_ps'
  | 'skew_ps'
  | 'step_median_ps'
  | 'step_min_ps'
  | 'step_max_ps';

function columnsOf(rows: readonly HostRow[], by: 'host' | 'device'): Column<HostRow>[] {
  const compared = rows.some((row) => row.compared_count > 0);
  const inSteps = rows.some((row) => row.step_count > 0);
  const known = (key: keyof HostRow) => rows.some((row) => row[key] !== null);
  const more = (key: PsKey) => rows.some((row) => row[key] !== null && Number(row[key]) > 0);
  const ps = (key: PsKey, title: string, others: Partial<Column<HostRow>> = {}): Column<HostRow> => {
    const scale = timeScale(rows.map((row) => row[key]));
    return {
      key,
      title,
      unit: scale.unit,
      width: '88px',
      numeric: true,
      cell: (row) => (row[key] === null ? UNKNOWN : inScale(row[key], scale)),
      exact: (row) => (row[key] === null ? (row.reasons[key] ?? null) : timeExact(row[key]!)),
      ...others,
    };
  };
  const columns: (Column<HostRow> | false)[] = [
    {
      key: 'name',
      title: by,
      value: (row) => row.name,
      width: 'minmax(104px, 320px)',
      exact: (row) => row.name,
      cell: (row) => (
        <Link
          to={
            row.device === null
              ? { view: 'timeline', host: row.host }
              : { view: 'timeline', host: row.host, device: String(row.device) }
          }
        >
          <Name text={row.name} />
        </Link>
      ),
    },
    by === 'device' &&
      new Set(rows.map((row) => row.host)).size > 1 && {
        key: 'host',
        title: 'host',
        groups: true,
        width: 'minmax(80px, 320px)',
        from: 1000,
        cell: (row) => <Name text={row.host} />,
        exact: (row) => row.host,
      },
    by === 'host' && {
      key: 'device_count',
      title: 'devices',
      width: '68px',
      numeric: true,
      cell: (row) => count(row.device_count),
    },
    inSteps && {
      key: 'step_count',
      title: 'steps',
      width: '64px',
      numeric: true,
      cell: (row) => count(row.step_count),
    },
    known('step_median_ps') && ps('step_median_ps', 'step', { tip: 'The median of its counted steps' }),
    known('step_max_ps') && ps('step_max_ps', 'longest', { from: 1400 }),
    known('busy_ps') && ps('busy_ps', 'busy', { from: 1480 }),
    known('idle_ps') && ps('idle_ps', 'idle', { from: 1000, tip: inSteps ? 'Total over its counted steps' : EVENTS }),
    known('busy_share') && {
      key: 'busy_share',
      title: 'busy',
      width: '72px',
      numeric: true,
      cell: (row) => shareCell(row.busy_share),
      exact: (row) => row.reasons.busy_share ?? null,
    },
    known('communication_ps') &&
      ps('communication_ps', 'comm', { tip: 'Exposed communication, total over its counted steps' }),
    more('hidden_communication_ps') &&
      ps('hidden_communication_ps', 'hidden', { tip: 'Communication that overlaps with other work', from: 1600 }),
    more('op_wait_ps') &&
      ps('op_wait_ps', 'ops wait', { tip: 'Only ops that wait ran, such as copy-done', from: 1600 }),
    compared && known('wait_ps') && ps('wait_ps', 'waits', { tip: 'For who came last in a step' }),
    compared &&
      known('wait_share') && {
        key: 'wait_share',
        title: 'of steps',
        width: '80px',
        numeric: true,
        cell: (row) => shareCell(row.wait_share),
      },
    compared && {
      key: 'last_count',
      title: 'last in',
      width: '72px',
      numeric: true,
      cell: (row) => (row.last_count === null ? UNKNOWN : count(row.last_count)),
      exact: (row) => `of ${plural(row.compared_count, 'step')}`,
    },
    compared && ps('lag_ps', 'by', { tip: 'What others waited for it, the median of the steps in which it was last' }),
    known('skew_ps') &&
      by === 'host' &&
      ps('skew_ps', 'clock', { tip: 'By which its clock is ahead of the first host’s', from: 1560 }),
    rows.some((row) => row.straggler) && {
      key: 'straggler',
      title: 'remark',
      width: '72px',
      sortable: false,
      cell: (row) => (row.straggler ? 'straggler' : ''),
    },
  ];
  return columns.filter((column) => column !== false);
}

/* Without steps a device is judged by itself. */
function withoutSteps(rows: readonly HostRow[], devices: Overview['devices']): HostRow[] {
  return rows.map((row) => {
    const own = devices.filter((one) => one.host === row.host && (row.device === null || one.device === row.device));
    const [busy_ps, idle_ps] = (['busy_ps', 'idle_ps'] as const).map((key) =>
      own.reduce((sum, one) => sum + toNumber(one[key]), 0),
    ) as [number, number];
    return busy_ps + idle_ps === 0
      ? row
      : {
          ...row,
          busy_ps,
          idle_ps,
          busy_share: busy_ps / (busy_ps + idle_ps),
          reasons: { ...row.reasons, busy_share: EVENTS },
        };
  });
}

export function HostsView({ run }: { run: RunDetails }) {
  const several = run.hosts.length > 1;
  const asked = query.value.by === 'host' || query.value.by === 'device' ? query.value.by : several ? 'host' : 'device';
  const params = { run: run.id, ...stepRestriction(), by: asked };
  const list = useJson<HostTable<HostRow>>('api/hosts', { ...params, sort: 'host,device', limit: ROWS_MAX });
  const grid = useJson<HostTable<HostStep>>('api/hosts', { ...params, view: 'grid', limit: ROWS_MAX });
  const inSteps = list.data?.rows.some((row) => row.step_count > 0) ?? true;
  const overview = useJson<Overview>(inSteps ? null : 'api/overview', { run: run.id, ...stepRestriction() });
  const rows = inSteps ? (list.data?.rows ?? []) : withoutSteps(list.data!.rows, overview.data?.devices ?? []);
  const table = useTable<HostRow>({
    columns: columnsOf(rows, asked),
    rows,
    sort: '',
    here: true,
    also: { straggler: (row) => (row.straggler ? 'yes' : 'no') },
  });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data) return list.waiting ? <Waiting what="Comparing hosts." progress={list.progress} /> : null;
  const basis = list.data.notes.find((note) => note.kind === 'lag-basis');
  return (
    <>
      {rows.length > 0 ? (
        <SentenceLine sentence={hostsSentence({ ...list.data, rows })} />
      ) : (
        <HowToRecordDevices
          framework={run.framework}
        >{`No ${asked} of this run recorded anything to compare.`}</HowToRecordDevices>
      )}
      {inSteps && rows.length > 0 && (
        <p class="basis">
          {`The step is the median, the busy share of the counted steps${
            table.columns.some((column) => column.key === 'idle_ps')
              ? '; idle time and communication are totals over them'
              : ''
          }.`}
        </p>
      )}
      {rows.length > 0 && !inSteps && (
        <HowToMarkSteps framework={run.framework}>
          No annotation marks steps, and no module repeats. To mark them:
        </HowToMarkSteps>
      )}
      {rows.length > 1 && basis && inSteps && <p class="basis">{sentenceCase(basis.message)}</p>}
      {rows.length > 1 && grid.data && grid.data.basis !== 'none' && grid.data.rows.length > 0 && (
        <HostGrid table={grid.data} />
      )}
      {(rows.length > 0 || several) && (
        <TableBar
          table={table}
          noun={asked}
          total={list.data.row_count}
          example="busy_share<80% straggler=yes"
          file={`${run.name}-hosts`}
          csv={address('api/hosts', { ...params, limit: ROWS_MAX, format: 'csv' })}
        >
          <label>
            by
            <select
              value={asked}
              onChange={(event) => go({ by: event.currentTarget.value, sort: null, group: null }, 'push')}
            >
              <option>host</option>
              <option>device</option>
            </select>
          </label>
        </TableBar>
      )}
      <TableBelow
        table={table}
        total={list.data.row_count}
        label={asked === 'host' ? 'Hosts' : 'Devices'}
        rowKey={(row) => `${row.host} ${row.device ?? ''}`}
        onOpen={(row) => go({ view: 'timeline', host: row.host, by: null })}
      />
      <CollectivesTable run={run} />
    </>
  );
}
