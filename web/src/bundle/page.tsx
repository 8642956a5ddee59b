/* SPDX-License-Identifier: Apache-2.0 */
/* The shell of a page that stands alone: whose run it is, its views, and what was left out. */
import { useEffect } from 'preact/hooks';
import { query, view } from '../data/place';
import { useJson } from '../data/resource';
import { absence, type RunDetails } from '../data/types';
import { Boundary } from '../ui/boundary';
import { Link } from '../ui/link';
import { Said } from '../ui/said';
import { Failed } from '../ui/states';
import { Name } from '../ui/text';
import { Tooltip } from '../ui/tooltip';
import { FlameView } from '../views/flame/flame';
import { KernelsView } from '../views/kernels/kernels';
import { OpsView } from '../views/ops';
import { OverviewView } from '../views/overview/overview';
import { ThemeButton } from '../views/shell/header';
import { StepsView } from '../views/steps/steps';
import { TimelineView } from '../views/timeline/timeline';
import { WhyView } from '../views/why/why';
import type { Contents } from './answers';

export const ENTRIES = [
  { view: 'overview', words: 'Overview', shape: '', page: (run: RunDetails) => <OverviewView run={run} /> },
  { view: 'timeline', words: 'Timeline', shape: ' bare', page: (run: RunDetails) => <TimelineView run={run} /> },
  { view: 'ops', words: 'Ops', shape: ' filling', page: (run: RunDetails) => <OpsView run={run} /> },
  {
    view: 'kernels',
    words: 'Kernels',
    shape: ' filling',
    page: (run: RunDetails) => <KernelsView run={run} absent={absence(run, 'kernels')} />,
  },
  { view: 'flame', words: 'Flame', shape: ' filling', page: (run: RunDetails) => <FlameView run={run} /> },
  { view: 'steps', words: 'Steps', shape: ' filling', page: (run: RunDetails) => <StepsView run={run} /> },
  { view: 'why', words: 'Why', shape: ' filling', page: (run: RunDetails) => <WhyView run={run} alone /> },
] as const;

function Tabs({ run }: { run: RunDetails }) {
  return (
    <div class="tabs">
      <nav aria-label="Views of the run">
        {ENTRIES.map(({ view: one, words }) => {
          const absent = absence(run, one);
          return (
            <Link
              key={one}
              to={{ view: one, zoom: null, key: null, columns: null, group: null }}
              current={(view.value ?? 'overview') === one}
              class={absent ? 'absent' : undefined}
              title={absent ?? undefined}
            >
              {words}
              {absent && ' –'}
            </Link>
          );
        })}
      </nav>
    </div>
  );
}

export function Page({ contents }: { contents: Contents }) {
  const run = useJson<RunDetails>('api/run', { run: contents.run });
  const entry = ENTRIES.find((one) => one.view === view.value) ?? ENTRIES[0];
  useEffect(() => {
    if (run.data) document.title = `${run.data.name} · ${entry.words} – jviewd`;
  }, [run.data, entry]);
  if (run.error) return <Failed error={run.error} />;
  if (!run.data) return null;
  return (
    <>
      <div class="shell standalone">
        <header class="header">
          <h1>
            <span class="cut">
              <Name text={run.data.name} />
            </span>
          </h1>
          <span class="facts cut">a summary, written by {contents.program}</span>
          <div class="actions">
            <ThemeButton />
          </div>
        </header>
        <Tabs run={run.data} />
        <div>
          {contents.reduced.length > 0 && (
            <div class="bar reduced" role="status">
              {contents.reduced.join(' ')}
            </div>
          )}
        </div>
        <main class={`page${entry.shape}`}>
          <Boundary key={`${entry.view} ${query.value.by ?? ''}`}>{entry.page(run.data)}</Boundary>
        </main>
      </div>
      <Tooltip />
      <Said />
    </>
  );
}
