/* SPDX-License-Identifier: Apache-2.0 */
/* What to do first: sentences ranked by what they would win, each a click from its evidence. */
import { useState } from 'preact/hooks';
import type { Ps } from '../../data/json';
import type { Evidence, Finding, FindingList } from '../../data/findings';
import { restriction } from '../../data/restriction';
import { useJson } from '../../data/resource';
import type { RunDetails } from '../../data/types';
import { linkOf } from '../../model/evidence';
import { countInProse, plural, share, size, time, toNumber, UNKNOWN } from '../../model/numbers';
import { Icon } from '../../ui/icons';
import { Link } from '../../ui/link';
import { Words } from '../../ui/text';

/* As much evidence as stands in a line. */
const SHOWN = 3;

function valueOf(evidence: Evidence): string {
  const { value, unit } = evidence;
  if (value === null) return UNKNOWN;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (unit === 'ps') return time(value);
  if (unit === 'bytes') return size(toNumber(value));
  if (unit === 'share') return share(toNumber(value));
  return Number.isInteger(toNumber(value)) ? countInProse(toNumber(value)) : toNumber(value).toPrecision(3);
}

function Proof({ evidence }: { evidence: Evidence }) {
  const link = linkOf(evidence);
  const words = `${evidence.name} ${valueOf(evidence)}`;
  return <li data-tip={evidence.reason ?? undefined}>{link === null ? words : <Link to={link}>{words}</Link>}</li>;
}

/* The share of the counted time, the time where the share is too small to say anything. */
const saved = (ps: Ps, part: number | null): string =>
  part !== null && (part === 0 || part >= 0.001) ? share(Math.min(1, part)) : time(ps);

/* By a replay of the steps, and the bound below it; where no replay tells the bound alone. */
function Win({ finding }: { finding: Finding }) {
  const { win_ps: most, win_share: part, replay_ps: ps = null, replay_share: told = null } = finding;
  if (most === null)
    return (
      <span class="win quiet" role="img" data-tip={finding.reasons.win_ps} aria-label="what it saves is not known" />
    );
  const bound = `up to ${time(most)}${part === null ? '' : `, ${share(part)} of the counted time`}`;
  if (ps === null)
    return (
      <span class="win number" data-tip={bound}>
        <span class="quiet">up to</span> {saved(most, part)}
      </span>
    );
  return (
    <span class="win number" data-tip={`a replay of the steps saves ${time(ps)}; ${bound}`}>
      {saved(ps, told)}
      {saved(ps, told) !== saved(most, part) && <span class="quiet">, up to {saved(most, part)}</span>}
    </span>
  );
}

/* A line, and what to do when it is open; the first is. */
function Item({ finding }: { finding: Finding }) {
  const [open, setOpen] = useState(finding.rank === 1);
  const places = finding.evidence.map(linkOf).filter((link) => link !== null);
  const place = places.find((link) => link.view === 'timeline') ?? places[0] ?? null;
  return (
    <li>
      <p class={open ? 'finding open' : 'finding'}>
        <button
          class="bare"
          aria-expanded={open}
          aria-label={open ? 'Less of this finding' : 'What to do, and the evidence'}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'down' : 'right'} />
        </button>
        <span>
          <Words text={finding.text} />
        </span>
        <Win finding={finding} />
        {place === null ? (
          <span />
        ) : (
          <Link to={place} title="To the evidence">
            →
          </Link>
        )}
      </p>
      {open && (
        <p class="quiet remedy">
          <Words text={finding.remedy} />
        </p>
      )}
      {open && (finding.evidence.length > 0 || finding.same_time_as !== null) && (
        <ul class="proofs quiet">
          {finding.same_time_as !== null && (
            <li data-tip="Their savings do not add up: they save the same time">
              partly the same time as {finding.same_time_as}
            </li>
          )}
          {finding.evidence.slice(0, SHOWN).map((evidence, index) => (
            <Proof key={index} evidence={evidence} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function Findings({ run, first, all }: { run: RunDetails; first: readonly Finding[]; all: number }) {
  const [open, setOpen] = useState(false);
  const list = useJson<FindingList>(open ? 'api/findings' : null, { run: run.id, ...restriction.value, limit: 200 });
  const rows = (open ? list.data?.rows : null) ?? first;
  return (
    <section>
      <h2 class="section">
        What to do first <span class="quiet section-right">saves</span>
      </h2>
      {rows.length === 0 && <p class="quiet">No rule found a problem in this run.</p>}
      <ol class="findings">
        {rows.map((finding) => (
          <Item key={finding.rank} finding={finding} />
        ))}
      </ol>
      {!open && all > first.length && (
        <button type="button" onClick={() => setOpen(true)}>
          Show {plural(all - first.length, 'more finding')}
        </button>
      )}
    </section>
  );
}
