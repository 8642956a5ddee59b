/* SPDX-License-Identifier: Apache-2.0 */
/* Of an op: its instruction in view with what it calls, what the opcode means, and beside it what
 * stood there before the compiler's passes.
 *
 *   Optimised HLO                            Before optimisations
 *   fusion: Several instructions as one ...  dot  dot.3   f32[64,256]
 *   %fusion.5 = f32[64,256] fusion(...)      add  add.7   f32[64,256]
 *     fused_computation.5 { ... }
 */
import type { HloFound, HloInstruction, HloLine, HloModule, HloPage } from '../../data/hlo';
import { useJson } from '../../data/resource';
import { absence, type RunDetails, type SliceDetails } from '../../data/types';
import { plural } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';

const LINES_MAX = 24;
const BEFORE_MAX = 12;

/* A module's name may mean several; its number means one, and may stand in the name. */
export function moduleKey(slice: SliceDetails): string {
  if (/\(\d+\)$/.test(slice.module!)) return slice.module!;
  const number = slice.args?.find((arg) => arg.name === 'program_id')?.value;
  return number === undefined || number === null ? slice.module! : `${slice.module}(${String(number)})`;
}

function Called({ run, module, of }: { run: string; module: string; of: HloInstruction }) {
  const called = of.called[0];
  const lines = useJson<HloPage<HloLine>>(called ? 'api/hlo' : null, {
    run,
    module,
    line: called?.line,
    limit: Math.min(LINES_MAX, (called?.instruction_count ?? 0) + 2),
  });
  if (!called || !lines.data) return null;
  const rest = called.instruction_count + 2 - lines.data.rows.length;
  return (
    <>
      <pre class="mono hlo-called">{lines.data.rows.map((row) => row.text).join('\n')}</pre>
      {rest > 0 && (
        <p class="quiet">
          <Link to={{ view: 'hlo', module, name: null, line: String(called.line) }}>{plural(rest, 'more line')}</Link>
        </p>
      )}
    </>
  );
}

/* Instructions of the same scope in the module as it was written. */
function Before({ run, pair, scope }: { run: string; pair: string; scope: string }) {
  const found = useJson<HloPage<HloFound>>('api/hlo', { run, module: pair, q: scope, limit: 200 });
  const rows = (found.data?.rows ?? []).filter((row) => row.scope === scope);
  if (!found.data) return null;
  return (
    <div>
      <h3 class="section">Before optimisations</h3>
      {rows.length === 0 && <p class="quiet">No instruction of this scope: the compiler made it.</p>}
      <ul class="hlo-before">
        {rows.slice(0, BEFORE_MAX).map((row) => (
          <li key={row.name} class="cut mono">
            {row.opcode}{' '}
            <Link to={{ view: 'hlo', module: pair, name: row.name, line: null }}>
              <Name text={row.name} />
            </Link>{' '}
            <span class="quiet">{row.shape}</span>
          </li>
        ))}
      </ul>
      {rows.length > BEFORE_MAX && (
        <p class="quiet">{plural(rows.length - BEFORE_MAX, 'more instruction')} of this scope.</p>
      )}
    </div>
  );
}

export function HloFacts({ run, slice }: { run: RunDetails; slice: SliceDetails }) {
  const asked = slice.op !== null && slice.op !== undefined && slice.module && !absence(run, 'hlo');
  const module = asked ? moduleKey(slice) : '';
  const reply = useJson<{ module: HloModule; instruction: HloInstruction }>(asked ? 'api/hlo' : null, {
    run: run.id,
    module,
    instruction: slice.op,
  });
  const of = reply.data?.instruction;
  if (!asked || !of || of.name !== slice.op) return null;
  const { pair, stage } = reply.data!.module;
  return (
    <section class="wide hlo-facts-of-slice">
      <div>
        <h3 class="section">{pair && stage === 'after_optimizations' ? 'Optimised HLO' : 'Instruction'}</h3>
        {of.meaning && (
          <p>
            <strong>{of.opcode}</strong>: {of.meaning.words}{' '}
            <a href={of.meaning.url} target="_blank" rel="noreferrer">
              more
            </a>
          </p>
        )}
        <pre class="mono hlo-called">{of.text}</pre>
        <Called run={run.id} module={module} of={of} />
      </div>
      {pair && slice.scope && stage === 'after_optimizations' && (
        <Before run={run.id} pair={pair} scope={slice.scope} />
      )}
    </section>
  );
}
