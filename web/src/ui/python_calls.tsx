/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that traced an op, the innermost first. */
import type { SliceDetails } from '../data/types';
import { SourcePlace } from './source';
import { Name } from './text';

export function PythonCalls({ slice }: { slice: SliceDetails }) {
  const { stack } = slice;
  if (!stack || stack.frames.length === 0) return null;
  return (
    <section>
      <h3 class="section">Python calls ({stack.frames.length})</h3>
      <ol class="python-calls">
        {stack.frames.map((frame) => (
          <li>
            <Name text={frame.function} mono /> {frame.file && <SourcePlace file={frame.file} line={frame.line} />}
          </li>
        ))}
      </ol>
      {stack.cut && (
        <p class="quiet">
          Cut off here when it was recorded: set <code>JAX_TRACEBACK_IN_LOCATIONS_LIMIT</code> higher for more.
        </p>
      )}
    </section>
  );
}
