/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a run, in the order of their tabs. Tabs, keys, palette and the page itself read this
 * list: a view is one line here, and its name and letter in model/views.json. */
import type { ComponentChildren } from 'preact';
import { absence, type RunDetails } from '../data/types';
import type { View } from '../model/address';
import { lazy } from '../ui/lazy';
import { CompilesView } from './compiles';
import { FilesView } from './files';
import { FlameView } from './flame/flame';
import { HloView } from './hlo/hlo';
import { KernelsView } from './kernels/kernels';
import { HostsView } from './hosts/hosts';
import { OpsView } from './ops';
import { OverviewView } from './overview/overview';
import { RooflineView } from './roofline';
import { StepsView } from './steps/steps';
import { ThreadsView } from './threads';
import { TimelineView } from './timeline/timeline';
import { TransfersView } from './transfers';
import { WhyView } from './why/why';

/* With the chart that it alone draws. */
const MemoryView = lazy(() => import('./later').then((module) => module.MemoryView));

const SqlView = lazy(() => import('./later').then((module) => module.SqlView));

export interface ViewEntry {
  view: View;
  words: string;
  page: (run: RunDetails) => ComponentChildren;
  shape?: 'filling' | 'bare'; // one thing scrolls inside; no margins at all
  xprof?: readonly string[]; // what XProf calls it
}

export const ENTRIES: readonly ViewEntry[] = [
  { view: 'overview', words: 'Overview', page: (run) => <OverviewView run={run} />, xprof: ['overview page'] },
  {
    view: 'timeline',
    words: 'Timeline',
    page: (run) => <TimelineView run={run} />,
    shape: 'bare',
    xprof: ['trace viewer'],
  },
  {
    view: 'ops',
    words: 'Ops',
    page: (run) => <OpsView run={run} />,
    shape: 'filling',
    xprof: ['hlo stats', 'framework op stats'],
  },
  {
    view: 'kernels',
    words: 'Kernels',
    page: (run) => <KernelsView run={run} absent={absence(run, 'kernels')} />,
    shape: 'filling',
    xprof: ['kernel stats'],
  },
  { view: 'flame', words: 'Flame', page: (run) => <FlameView run={run} />, shape: 'filling', xprof: ['op profile'] },
  {
    view: 'steps',
    words: 'Steps',
    page: (run) => <StepsView run={run} />,
    shape: 'filling',
    xprof: ['input pipeline analyzer'],
  },
  { view: 'why', words: 'Why', page: (run) => <WhyView run={run} /> },
  {
    view: 'compiles',
    words: 'Compiles',
    page: (run) => <CompilesView run={run} absent={absence(run, 'compiles')} />,
    shape: 'filling',
  },
  {
    view: 'transfers',
    words: 'Transfers',
    page: (run) => <TransfersView run={run} absent={absence(run, 'transfers')} />,
    shape: 'filling',
  },
  {
    view: 'memory',
    words: 'Memory',
    page: (run) => <MemoryView run={run} absent={absence(run, 'memory')} />,
    xprof: ['memory viewer', 'memory profile'],
  },
  { view: 'hosts', words: 'Hosts', page: (run) => <HostsView run={run} />, xprof: ['pod viewer'] },
  { view: 'threads', words: 'Threads', page: (run) => <ThreadsView run={run} />, shape: 'filling' },
  {
    view: 'roofline',
    words: 'Roofline',
    page: (run) => <RooflineView run={run} />,
    shape: 'filling',
    xprof: ['roofline model'],
  },
  {
    view: 'hlo',
    words: 'HLO',
    page: (run) => <HloView run={run} absent={absence(run, 'hlo')} />,
    shape: 'filling',
    xprof: ['graph viewer'],
  },
  { view: 'files', words: 'Files', page: (run) => <FilesView run={run} /> },
  { view: 'sql', words: 'SQL', page: (run) => <SqlView run={run} /> },
];

export function entryOf(view: string | undefined): ViewEntry {
  return ENTRIES.find((entry) => entry.view === view) ?? ENTRIES[0]!;
}
