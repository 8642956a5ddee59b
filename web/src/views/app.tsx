/* SPDX-License-Identifier: Apache-2.0 */
/* The page: header, tabs, one view. Views know nothing of one another; the address joins them. */
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { go, hrefOf, query, runName, view, word } from '../data/place';
import { forgetOne, useJson } from '../data/resource';
import { absence, isUnsettled, type RunDetails, type RunList } from '../data/types';
import { faultsOf } from '../model/address';
import { shown } from '../model/cut';
import { opOf } from '../ui/op_link';
import { time } from '../model/numbers';
import { Boundary } from '../ui/boundary';
import { ContextMenu } from '../ui/context_menu';
import { registerActions } from '../ui/keys';
import { offerCards } from '../ui/op_link';
import { Said, say } from '../ui/said';
import { change, settings, theme } from '../ui/settings';
import { Failed, Waiting } from '../ui/states';
import { copyText } from '../ui/text';
import { besideWidth } from '../ui/table';
import { hideTip, Tooltip } from '../ui/tooltip';
import { Indexing } from './indexing';
import { CompareView } from './compare/compare';
import { ComparePicker, picking } from './compare/picker';
import { Elsewhere, isElsewhere } from './elsewhere';
import { NotesBar } from './notes';
import { ENTRIES, entryOf } from './registry';
import { RunsView } from './runs/runs';
import { lazy } from '../ui/lazy';
import { SettingsPage } from './settings_page';
import { Header } from './shell/header';
import { Help, helpOpen } from './shell/help';
import { Palette, paletteOpen } from './shell/palette';
import { LostBar } from './shell/lost_bar';
import { PerfettoBar } from './shell/perfetto_button';
import { PerfettoDialog } from './shell/perfetto_dialog';
import { Tabs } from './shell/tabs';
import { DropTarget, UploadBar } from './shell/upload';

const OpCard = lazy(() => import('./op_card').then((module) => module.OpCard));
const CARD_VIEWS = new Set(['overview', 'ops', 'flame', 'kernels', 'roofline', 'steps']);
const [CARD_WIDTH, CARD_FROM] = [440, 1100]; // as the style sheet has them

const TrendPage = lazy(() => import('./later').then((module) => module.TrendPage));

/* A page in a frame has no room beside it. */
if (query.value.embed !== '1') offerCards();

const RUNS_HREF = { run: null, view: 'runs', by: null, sort: null, q: null, columns: null, a: null, b: null };

function FaultBar() {
  const faults = faultsOf(query.value);
  if (faults.length === 0) return null;
  return (
    <div class="bar warn" role="status">
      The address is odd: {faults.join('; ')}. It is ignored.
    </div>
  );
}

/* A run that is still being read is asked for again, whether or not the event stream is open. */
const POLL_MS = 1500;
const asked = word('view');
const embed = word('embed');
const WITHOUT_TIME = ['memory', 'hlo', 'flame', 'files'] as const;

function titleOf(run: RunDetails, words: string): string {
  const step = run.step_median_ps === null ? [] : [time(run.step_median_ps)];
  return `${[...step, shown(run.name), words].join(' · ')} – jviewd`;
}

function RunPage({ name }: { name: string }) {
  const run = useJson<RunDetails>('api/run', { run: name });
  const data = run.data && (run.data.id === name || run.data.name === name || !run.waiting) ? run.data : null;
  const entry = entryOf(view.value);
  useEffect(() => {
    document.title = data ? titleOf(data, entry.words) : 'jviewd';
    if (data && name.startsWith('latest')) go({ run: data.name }, 'replace');
  }, [data, view.value]);
  useEffect(
    () =>
      registerActions(
        Object.fromEntries(
          ENTRIES.map((one) => [`go-${one.view}`, () => go({ view: one.view, key: null, zoom: null }, 'push')]),
        ),
      ),
    [],
  );
  /* By its id the link means this run for ever, whatever gets its name later. */
  useEffect(() => {
    if (!data) return;
    const link = () => new URL(hrefOf({ run: data.id }), location.href).href;
    return registerActions({ 'copy-link': () => void copyText(link()).then(() => say('Link copied.')) });
  }, [data?.id]);
  useEffect(
    () => (data ? registerActions({ compare: () => void (picking.value = { beside: data.name }) }) : undefined),
    [data?.name],
  );
  const unsettled = data !== null && isUnsettled(data);
  useEffect(() => {
    /* A run without a timeline opens on what it has. */
    if (data === null || unsettled || query.value.view !== undefined || absence(data, 'overview') === null) return;
    const first = WITHOUT_TIME.find(
      (one) => absence(data, one) === null && ENTRIES.some((known) => known.view === one),
    );
    if (first) go({ view: first }, 'replace');
  }, [data, unsettled]);
  useEffect(() => {
    if (!unsettled) return;
    const timer = setTimeout(() => forgetOne('api/run', { run: name }), POLL_MS);
    return () => clearTimeout(timer);
  }, [data, unsettled]);
  const shape = data && entry.shape ? ` ${entry.shape}` : '';
  const embedded = embed.value === '1';
  const card = data !== null && !embedded && CARD_VIEWS.has(entry.view) && opOf(query.value) !== null;
  useLayoutEffect(() => void (besideWidth.value = card && innerWidth >= CARD_FROM ? CARD_WIDTH : 0), [card]);
  return (
    <div class={embedded ? 'shell embedded' : 'shell'}>
      {!embedded && <Header run={data} />}
      {!embedded && (data ? <Tabs run={data} /> : <div />)}
      <div>
        <LostBar />
        <UploadBar />
        <FaultBar />
        {data && <PerfettoBar run={data} />}
        {data && <NotesBar run={data} />}
        {data && data.content_id !== null && <PerfettoDialog run={data} />}
      </div>
      <div class={card ? 'beside with-card' : 'beside'}>
        <main class={`page${shape}`}>
          {data &&
            (unsettled && data.content_id === null ? (
              <Indexing run={data} name={name} />
            ) : (
              <Boundary key={`${data.content_id} ${entry.view}`}>
                {isElsewhere(data, entry.view) ? <Elsewhere run={data} view={entry.view} /> : entry.page(data)}
              </Boundary>
            ))}
          {!data && run.error && <Failed error={run.error} />}
          {!data && run.waiting && run.progress !== null && <Waiting what="Reading the run." progress={run.progress} />}
        </main>
        {card && <OpCard run={data!} />}
      </div>
      {embedded && (
        <a class="embedded-link" href={hrefOf({ embed: null })} target="_blank" rel="noopener">
          {data ? `${shown(data.name)} in jviewd` : 'jviewd'}
        </a>
      )}
    </div>
  );
}

/* Without a run in the address: a run that is alone opens itself, else the list. */
function Start() {
  const runs = useJson<RunList>(asked.value === 'runs' ? null : 'api/runs', { limit: 2 });
  const only = runs.data?.row_count === 1 ? runs.data.runs[0]! : null;
  useEffect(() => {
    if (only) go({ run: only.name }, 'replace');
  }, [only?.id]);
  if (asked.value !== 'runs' && !runs.data && !runs.error) return null;
  if (only) return null;
  return (
    <div class="shell">
      <Header run={null} />
      <div />
      <div>
        <LostBar />
        <UploadBar />
        <FaultBar />
      </div>
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
        'copy-link': () => void copyText(location.href).then(() => say('Link copied.')),
        escape: () => hideTip(),
        'go-runs': () => go(RUNS_HREF, 'push'),
        'go-trend': () => go({ ...RUNS_HREF, view: 'trend' }, 'push'),
        settings: () => go({ view: 'settings' }, 'push'),
        theme: () => change({ theme: theme.value === 'dark' ? 'light' : 'dark' }),
        letters: () => change({ letters: !settings.value.letters }),
        ...Object.fromEntries(
          (['dense', 'normal', 'tall'] as const).map((rows) => [`rows-${rows}`, () => change({ rows })]),
        ),
      }),
    [],
  );
  return (
    <>
      {asked.value === 'compare' ? (
        <CompareView />
      ) : asked.value === 'trend' ? (
        <TrendPage />
      ) : asked.value === 'settings' ? (
        <SettingsPage />
      ) : runName.value === null ? (
        <Start />
      ) : (
        <RunPage key={runName.value} name={runName.value} />
      )}
      <Tooltip />
      <Said />
      <ContextMenu />
      <Help />
      <Palette />
      <ComparePicker />
      {embed.value !== '1' && <DropTarget />}
    </>
  );
}
