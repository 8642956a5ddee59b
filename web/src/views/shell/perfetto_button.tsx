/* SPDX-License-Identifier: Apache-2.0 */
/* Open in Perfetto. Large traces ask first: the window, or the download. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { address } from '../../data/api';
import { handOver, type HandOverState } from '../../data/perfetto';
import { query } from '../../data/place';
import type { RunDetails } from '../../data/types';
import { parseSpan, rangeOf, type Span } from '../../model/address';
import { size, time } from '../../model/numbers';
import { registerActions } from '../../ui/keys';
import { settings } from '../../ui/settings';

const BYTES_MAX = 200 * 1024 * 1024;
/* A slice is about this much in gzipped JSON; the size is known only once it is made. */
const BYTES_PER_SLICE = 24;

const now = signal<HandOverState | { state: 'asking' } | null>(null);

/* Call it in the click itself, or the tab is blocked. */
export function openInPerfetto(run: RunDetails, span: Span | null): void {
  const window = span ? { start_ps: span.start, end_ps: span.end } : {};
  void handOver({
    address: settings.value.perfetto,
    title: run.name,
    params: { run: run.id, format: 'perfetto', ...window },
    onProgress: (state) => {
      now.value = state.state === 'done' ? null : state;
    },
  });
}

export function isLarge(run: RunDetails): boolean {
  return traceBytes(run) > BYTES_MAX;
}

export function traceBytes(run: RunDetails): number {
  return (run.slice_count ?? 0) * BYTES_PER_SLICE;
}

export function PerfettoButton({ run }: { run: RunDetails }) {
  const open = (): void => {
    if (isLarge(run)) now.value = { state: 'asking' };
    else openInPerfetto(run, rangeOf(query.value));
  };
  useEffect(() => registerActions({ perfetto: open }), [run.id]);
  return (
    <button
      class="seldom"
      data-tip="The trace goes from this page to the tab that opens; it is not uploaded"
      onClick={open}
    >
      Open in Perfetto
    </button>
  );
}

export function PerfettoBar({ run }: { run: RunDetails }) {
  const state = now.value;
  if (!state) return null;
  const span = rangeOf(query.value) ?? parseSpan(query.value.window);
  const words = {
    asking: `This run has about ${size(traceBytes(run))} of trace: more than a browser tab can handle well.`,
    reading: state.state === 'reading' ? `For Perfetto: ${size(state.bytes)} read.` : '',
    waiting: `Waiting for ${settings.value.perfetto} to answer.`,
    done: '',
    failed: state.state === 'failed' ? state.message : '',
  }[state.state];
  return (
    <div class="bar" role="status">
      <span class={state.state === 'failed' ? 'error' : undefined}>{words}</span>
      {state.state === 'asking' && span && (
        <button class="framed" onClick={() => openInPerfetto(run, span)}>
          Open the window of {time(span.end - span.start)}
        </button>
      )}
      {(state.state === 'asking' || state.state === 'failed') && (
        <a
          class="button framed"
          href={address('api/trace', { run: run.id, format: 'perfetto' })}
          download={`${run.name}.json.gz`}
        >
          Download
        </a>
      )}
      <button onClick={() => (now.value = null)}>Close</button>
    </div>
  );
}
