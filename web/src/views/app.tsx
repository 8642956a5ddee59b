/* The page: header, tabs, one view. Views know nothing of one another; the address joins them. */
import { useEffect } from 'preact/hooks';
import { lostSince } from '../data/api';
import { go, query, runName, view } from '../data/place';
import { forgetOne, useJson } from '../data/resource';
import { absence, isUnsettled, type RunDetails, type RunList } from '../data/types';
import { faultsOf } from '../model/address';
import { ContextMenu } from '../ui/context_menu';
import { registerActions } from '../ui/keys';
import { Failed, Waiting } from '../ui/states';
import { copyText } from '../ui/text';
import { hideTip, Tooltip } from '../ui/tooltip';
import { FilesView } from './files';
import { FlameView } from './flame/flame';
import { Indexing } from './indexing';
import { MemoryView } from './memory';
import { OpsView } from './ops';
import { OverviewView } from './overview/overview';
import { RunsView } from './runs';
import { Header } from './shell/header';
import { Help, helpOpen } from './shell/help';
import { Palette, paletteOpen } from './shell/palette';
import { PerfettoBar } from './shell/perfetto_button';
import { Tabs } from './shell/tabs';
import { StepsView } from './steps';
import { TimelineView } from './timeline/timeline';

const RUNS_HREF = { run: null, view: 'runs' };
const VIEW_KEYS = ['overview', 'timeline', 'ops', 'flame', 'steps', 'memory', 'files'];

function LostBar() {
  const since = lostSince.value;
  if (!since) return null;
  return (
    <div class="bar error" role="alert">
      No answer from the server since {since.toLocaleTimeString()}; what you see is whole.
    </div>
  );
}

function FaultBar() {
  const faults = faultsOf(query.value);
  if (faults.length === 0) return null;
  return <div class="bar warn">The address is odd: {faults.join('; ')}. It is ignored.</div>;
}

function Page({ run }: { run: RunDetails }) {
  switch (view.value) {
    case 'timeline':
      return <TimelineView run={run} />;
    case 'ops':
      return <OpsView run={run} />;
    case 'flame':
      return <FlameView run={run} />;
    case 'steps':
      return <StepsView run={run} />;
    case 'memory':
      return <MemoryView run={run} absent={absence(run, 'memory')} />;
    case 'files':
      return <FilesView run={run} />;
    default:
      return <OverviewView run={run} />;
  }
}

/* A run that is still being read is asked for again, whether or not the event stream is open. */
const POLL_MS = 1500;
const FILLING = new Set(['ops', 'flame', 'steps']);

function RunPage({ name }: { name: string }) {
  const run = useJson<RunDetails>('api/run', { run: name });
  const data = run.data && (run.data.id === name || run.data.name === name || !run.waiting) ? run.data : null;
  useEffect(() => {
    document.title = data ? `${data.name} · ${view.value} – jviewd` : 'jviewd';
    if (data && name.startsWith('latest')) go({ run: data.name }, 'replace');
  }, [data, view.value]);
  const unsettled = data !== null && isUnsettled(data);
  useEffect(() => {
    if (!unsettled) return;
    const timer = setTimeout(() => forgetOne('api/run', { run: name }), POLL_MS);
    return () => clearTimeout(timer);
  }, [data, unsettled]);
  const kind = view.value === 'timeline' && data ? ' bare' : FILLING.has(view.value) ? ' filling' : '';
  return (
    <div class="shell">
      <Header run={data} />
      {data ? <Tabs run={data} /> : <div />}
      <div>
        <LostBar />
        <FaultBar />
        {data && <PerfettoBar run={data} />}
      </div>
      <main class={`page${kind}`}>
        {data && (unsettled && data.content_id === null ? <Indexing run={data} name={name} /> : <Page run={data} />)}
        {!data && run.error && <Failed error={run.error} />}
        {!data && run.waiting && run.progress !== null && <Waiting what="Reading the run." progress={run.progress} />}
      </main>
    </div>
  );
}

/* Without a run in the address: a run that is alone opens itself, else the list. */
function Start() {
  const runs = useJson<RunList>(query.value.view === 'runs' ? null : 'api/runs', { limit: 2 });
  const only = runs.data?.row_count === 1 ? runs.data.runs[0]! : null;
  useEffect(() => {
    if (only) go({ run: only.name }, 'replace');
  }, [only?.id]);
  if (query.value.view !== 'runs' && !runs.data && !runs.error) return null;
  if (only) return null;
  return (
    <div class="shell">
      <Header run={null} />
      <div />
      <LostBar />
      <main class="page filling">
        <RunsView />
      </main>
    </div>
  );
}

export function App() {
  useEffect(
    () =>
      registerActions({
        palette: () => void (paletteOpen.value = !paletteOpen.value),
        help: () => void (helpOpen.value = true),
        'copy-link': () => void copyText(location.href),
        escape: () => hideTip(),
        'go-runs': () => go(RUNS_HREF, 'push'),
        ...Object.fromEntries(VIEW_KEYS.map((one) => [`go-${one}`, () => (runName.value === null ? false : go({ view: one }))])),
      }),
    [],
  );
  return (
    <>
      {runName.value === null ? <Start /> : <RunPage key={runName.value} name={runName.value} />}
      <Tooltip />
      <ContextMenu />
      <Help />
      <Palette />
    </>
  );
}
