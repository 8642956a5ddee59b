/* SPDX-License-Identifier: Apache-2.0 */
/* `view=perfetto`: the run with the hand-over to Perfetto ready; the tab opens by a click only. */
import { address } from '../../data/api';
import { go, query } from '../../data/place';
import type { RunDetails } from '../../data/types';
import { parseSpan, rangeOf } from '../../model/address';
import { size, time } from '../../model/numbers';
import { useDialog } from '../../ui/dialog';
import { settings } from '../../ui/settings';
import { Name } from '../../ui/text';
import { isLarge, openInPerfetto, traceBytes } from './perfetto_button';

export function PerfettoDialog({ run }: { run: RunDetails }) {
  const open = query.value.view === 'perfetto';
  const close = (): void => go({ view: null }, 'replace');
  const dialog = useDialog(open, close);
  const span = rangeOf(query.value) ?? parseSpan(query.value.window);
  const hand = (part: typeof span) => () => {
    openInPerfetto(run, part);
    close();
  };
  return (
    <dialog {...dialog} class="hand-over" aria-labelledby="hand-over-title">
      {open && (
        <>
          <h2 id="hand-over-title" class="slice-name">
            <Name text={run.name} /> in Perfetto
          </h2>
          <p>
            {`${settings.value.perfetto} opens in a new tab and takes the trace from this page; nothing is uploaded. `}
            {isLarge(run) &&
              `The whole run is about ${size(traceBytes(run))} of trace: more than a browser tab can handle well. `}
          </p>
          <p class="buttons">
            {span && (
              <button class="framed" onClick={hand(span)}>
                Open {time(span.end - span.start)}
              </button>
            )}
            <button class="framed" onClick={hand(null)} autoFocus>
              Open the whole run
            </button>
            <a
              class="button framed"
              href={address('api/trace', { run: run.id, format: 'perfetto' })}
              download={`${run.name}.json.gz`}
            >
              Download
            </a>
            <button onClick={close}>Close</button>
          </p>
        </>
      )}
    </dialog>
  );
}
