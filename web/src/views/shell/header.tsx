/* SPDX-License-Identifier: Apache-2.0 */
/* The header: whose run this is, on what it stands, and what can be done with it. */
import type { ComponentChildren } from 'preact';
import { Link } from '../../ui/link';
import { absence, type RunDetails } from '../../data/types';
import { plural } from '../../model/numbers';
import { Icon } from '../../ui/icons';
import { act } from '../../ui/keys';
import { change, theme } from '../../ui/settings';
import { Name } from '../../ui/text';
import { DownloadMenu } from './download';
import { PerfettoButton } from './perfetto_button';
import { RunMenu } from './run_menu';
import { UploadedMark } from './uploaded';

export function ThemeButton() {
  const other = theme.value === 'dark' ? 'light' : 'dark';
  return (
    <button
      class="rare"
      aria-label={`${other} theme`}
      data-tip={`${other} theme`}
      onClick={() => change({ theme: other })}
    >
      <Icon name="theme" />
    </button>
  );
}

export function CommonActions() {
  return (
    <>
      <ThemeButton />
      <button onClick={() => act('palette')}>ctrl K</button>
      <button aria-label="Keys and help" data-tip="Keys and help" onClick={() => act('help')}>
        ?
      </button>
    </>
  );
}

export function deviceWords(run: Pick<RunDetails, 'device_count' | 'device_kind'>): string | null {
  if (run.device_count === null || run.device_count === 0) return null;
  return run.device_kind ? `${run.device_count} × ${run.device_kind}` : plural(run.device_count, 'device');
}

function Facts({ run }: { run: RunDetails }) {
  const facts = [
    run.hosts.length === 0 ? null : plural(run.hosts.length, 'host'),
    deviceWords(run),
    run.framework,
    run.slice_count === null ? null : plural(run.slice_count, 'slice'),
  ].filter((fact) => fact !== null);
  return (
    <span class="facts cut">
      {facts.join(' · ')}
      {run.notes.length > 0 && (
        <>
          {facts.length > 0 && ' · '}
          <Link to={{ view: 'files' }}>{plural(run.notes.length, 'note')}</Link>
        </>
      )}
    </span>
  );
}

/* To the runs, from a run or from two. */
export function Brand() {
  return (
    <Link
      to={{
        run: null,
        view: 'runs',
        slice: null,
        key: null,
        window: null,
        start_ps: null,
        end_ps: null,
        step: null,
        track: null,
        zoom: null,
        by: null,
        sort: null,
        q: null,
        columns: null,
        a: null,
        b: null,
      }}
      class="brand"
    >
      jviewd
    </Link>
  );
}

/* Of a page that is of no run. */
export function PageHeader({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header class="header">
      <Brand />
      <span class="faint" aria-hidden="true">
        /
      </span>
      <h1>{title}</h1>
      {children}
      <div class="actions">
        <CommonActions />
      </div>
    </header>
  );
}

export function Header({ run }: { run: RunDetails | null }) {
  return (
    <header class="header">
      {run ? (
        <Brand />
      ) : (
        <h1>
          <Brand />
        </h1>
      )}
      {run && (
        <>
          <span class="faint" aria-hidden="true">
            /
          </span>
          <h1>
            <span class="cut">
              <Name text={run.name} />
            </span>
          </h1>
          <RunMenu run={run} />
          <Facts run={run} />
          <UploadedMark run={run} />
        </>
      )}
      <div class="actions">
        {run && run.content_id !== null && absence(run, 'timeline') === null && (
          <>
            <button class="seldom" onClick={() => act('compare')}>
              Compare…
            </button>
            <PerfettoButton run={run} />
            <span class="rare">
              <DownloadMenu run={run} />
            </span>
          </>
        )}
        <CommonActions />
      </div>
    </header>
  );
}
