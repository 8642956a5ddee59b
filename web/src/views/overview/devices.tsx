/* SPDX-License-Identifier: Apache-2.0 */
/* How busy each device is: of the steps that count, as the page of hosts says it; without steps from its first event to
 * its last. */
import { restriction } from '../../data/restriction';
import { useJson } from '../../data/resource';
import type { HostRow, HostTable, Overview, RunDetails } from '../../data/types';
import { plural, share, time, toNumber, UNKNOWN } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';

/* A long list of devices is a page of its own; here the first show how they differ. */
const DEVICES_SHOWN = 16;

interface Bar {
  name: string;
  busyShare: number | null;
  tip: string;
}

const shortName = (name: string) => name.replace(/^(\/device:\w+:|GPU )(?=\d+$)/, 'device ');

const ofCapture = (device: Overview['devices'][number]): Bar => ({
  name: device.name,
  busyShare: device.busy_share,
  tip: `busy ${time(device.busy_ps)}, idle ${time(device.idle_ps)} from its first event to its last`,
});

const ofSteps = (row: HostRow): Bar => ({
  name: row.name,
  busyShare: row.busy_share,
  tip:
    row.busy_ps === null || row.idle_ps === null
      ? 'nothing is known of this device'
      : `busy ${time(row.busy_ps)}, idle ${time(row.idle_ps)} in ${plural(row.step_count, 'step')}`,
});

/* Where a device has events in a corner of the capture only, its share is of that corner. */
function cornerOf(overview: Overview): string | null {
  const whole = toNumber(overview.duration_ps ?? 0);
  const hulls = overview.devices.map((device) => toNumber(device.busy_ps) + toNumber(device.idle_ps));
  const longest = Math.max(0, ...hulls);
  return hulls.length > 0 && longest < whole / 10
    ? `First to last event are ${time(longest)} of ${time(whole)}${hulls.length > 1 ? ' at most' : ''}.`
    : null;
}

/* What a device did in the counted time: its own work, waiting, nothing. */
function dutyOf(overview: Overview): string | null {
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
      `idle while the host: ${causes
        .slice(0, 3)
        .map((part) => `${part.cause} ${share(part.share ?? 0)}`)
        .join(', ')}`,
    );
  return `Of ${overview.breakdown_of === 'capture' ? 'the capture' : 'the steps'}: ${parts.join('; ')}.`;
}

function BusyBar({ bar }: { bar: Bar }) {
  return (
    <div>
      <dt class="cut">
        <Name text={shortName(bar.name)} />
      </dt>
      <dd data-tip={bar.tip}>
        <span class="bar-track" aria-hidden="true">
          <span style={{ width: `${(bar.busyShare ?? 0) * 100}%` }} />
        </span>
        <span class="number">{bar.busyShare === null ? UNKNOWN : share(bar.busyShare)}</span>
      </dd>
    </div>
  );
}

export function Devices({ run, overview }: { run: RunDetails; overview: Overview }) {
  const hasSteps = (overview.step?.counted ?? 0) > 0;
  const inSteps = useJson<HostTable<HostRow>>(hasSteps && overview.devices.length > 0 ? 'api/hosts' : null, {
    run: run.id,
    ...restriction.value,
    by: 'device',
    sort: 'host,device',
    limit: DEVICES_SHOWN,
  });
  if (overview.devices.length === 0 || (hasSteps && inSteps.data === null && inSteps.error === null)) return null;
  const isOfSteps = inSteps.data !== null && inSteps.data.rows.length > 0;
  const bars = isOfSteps ? inSteps.data!.rows.map(ofSteps) : overview.devices.map(ofCapture);
  const left = overview.devices.length - DEVICES_SHOWN;
  const corner = isOfSteps ? null : cornerOf(overview);
  const duty = dutyOf(overview);
  return (
    <section>
      <h2 class="section">
        <Link to={{ view: 'hosts' }}>Devices</Link>{' '}
        <span class="quiet">{isOfSteps ? 'busy, of the steps' : 'busy, first to last event'}</span>
      </h2>
      <dl class="device-bars">
        {bars.slice(0, DEVICES_SHOWN).map((bar, index) => (
          <BusyBar key={index} bar={bar} />
        ))}
      </dl>
      {left > 0 && <p class="quiet">and {plural(left, 'more device')}</p>}
      {corner && <p class="quiet">{corner}</p>}
      {duty && <p class="quiet">{duty}</p>}
    </section>
  );
}
