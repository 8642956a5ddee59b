/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction: what it is, what it took, and two hops of who feeds it and who uses it. */
import { address } from '../../data/api';
import type { HloFound, HloInstruction, HloModule, HloPage } from '../../data/hlo';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import { shortScope, shortSource } from '../../model/cut';
import { count, plural, size, time, toNumber, UNKNOWN } from '../../model/numbers';
import { slicesOfOp } from '../../model/search';
import { Link } from '../../ui/link';
import { Failed } from '../../ui/states';
import { RoomContext, type Room } from '../../ui/fit';
import { Name } from '../../ui/text';
import { HloGraph } from './graph';

const FOUND_MAX = 200;

function Facts({ of }: { of: HloInstruction }) {
  const cost =
    of.self_ps === null || of.self_ps === undefined
      ? null
      : `${time(of.self_ps)} in ${plural(of.execution_count ?? 0, 'execution')}`;
  const facts: [string, preact.ComponentChildren, string?][] = [
    ['took', cost ?? UNKNOWN, of.reasons.self_ps],
    ['shape', <Name text={of.shape} mono />],
    [
      'scope',
      of.scope ? (
        <Link to={{ view: 'ops', scope: of.scope, name: null, module: null }}>
          <Name text={shortScope(of.scope)} />
        </Link>
      ) : (
        UNKNOWN
      ),
      of.scope ?? undefined,
    ],
    ['source', of.source ? <Name text={shortSource(of.source)} mono /> : UNKNOWN, of.source ?? of.reasons.source],
  ];
  if (of.fusion_kind) facts.push(['fusion', of.fusion_kind]);
  if (of.custom_call_target) facts.push(['calls', <Name text={of.custom_call_target} mono />]);
  for (const called of of.called)
    facts.push([
      'computation',
      <>
        <Link to={{ line: String(called.line), name: null }}>
          <Name text={called.name} mono />
        </Link>{' '}
        <span class="faint">{plural(called.instruction_count, 'instruction')}</span>
      </>,
    ]);
  for (const caller of of.callers.slice(0, 3))
    facts.push([
      'called by',
      <Link to={{ name: caller.name, line: null }}>
        <Name text={caller.name} mono />
      </Link>,
    ]);
  for (const buffer of of.buffers.slice(0, 3))
    facts.push([
      'memory',
      `${size(buffer.size_bytes)} at ${count(buffer.offset)} of allocation ${buffer.allocation} ` +
        `(${size(buffer.allocation_bytes)})`,
    ]);
  return (
    <dl class="hlo-facts">
      {facts.map(([word, value, tip]) => (
        <>
          <dt>{word}</dt>
          <dd class="cut" data-tip={tip}>
            {value}
          </dd>
        </>
      ))}
    </dl>
  );
}

export function HloInstructionPane({ of }: { of: HloInstruction }) {
  return (
    <aside class="hlo-side" aria-label={`Instruction ${of.name}`}>
      <h2 class="hlo-name">
        <Name text={of.name} mono /> <span class="quiet">{of.opcode}</span>
      </h2>
      {of.self_ps !== null && (
        <p>
          <Link to={{ view: 'timeline', find: slicesOfOp(of.name, query.value.module), name: null, module: null }}>
            Its slices
          </Link>
        </p>
      )}
      <Facts of={of} />
      <HloGraph of={of} />
    </aside>
  );
}

export function HloSearchPane({ run, module, q }: { run: string; module: HloModule; q: string }) {
  const found = useJson<HloPage<HloFound>>('api/hlo', { run, module: module.key, q, limit: FOUND_MAX });
  if (found.error) return <Failed error={found.error} />;
  if (!found.data) return <aside class="hlo-side" />;
  const { row_count: all } = found.data;
  const weight = (row: HloFound): number =>
    row.self_ps === null || row.self_ps === undefined ? -1 : toNumber(row.self_ps);
  const rows = [...found.data.rows].sort((a, b) => weight(b) - weight(a));
  return (
    <aside class="hlo-side" aria-label="Instructions found">
      <p class="quiet">
        {all === 0
          ? `No instruction of ${module.name} holds “${q}”. `
          : `${plural(all, 'instruction')}${all > rows.length ? `, the first ${rows.length} shown` : ''}. `}
        <button onClick={() => go({ q: null }, 'replace')}>Close</button>
      </p>
      <ul class="hlo-hop">
        {rows.map((row) => (
          <li key={row.name}>
            <Link to={{ name: row.name, line: null }}>
              <Name text={row.name} mono />
            </Link>
            <span class="quiet cut" data-tip={row.scope ?? undefined}>
              {row.opcode} {row.scope && <Name text={shortScope(row.scope)} />}
            </span>
            <span class="number">{row.self_ps === null || row.self_ps === undefined ? '' : time(row.self_ps)}</span>
          </li>
        ))}
      </ul>
    </aside>
  );
}

const ROOM: Room = { pixels: 232, front: true }; // of the side, beside its words

/* What lies beside the module, and the module as a file. */
export function HloFiles({ run, module }: { run: string; module: HloModule }) {
  const stage = module.stage_name ?? module.stage;
  return (
    <aside class="hlo-side" aria-label="About the module">
      <h2 class="hlo-name">
        <Name text={module.name} mono />
      </h2>
      <dl class="hlo-facts">
        <dt>number</dt>
        <dd>{module.program_id}</dd>
        {stage && (
          <>
            <dt>stage</dt>
            <dd>
              <Name text={stage} />
            </dd>
          </>
        )}
        <dt>fingerprint</dt>
        <dd class="mono">{module.fingerprint}</dd>
        <dt>computations</dt>
        <dd>{count(module.computation_count)}</dd>
        <dt>from</dt>
        <dd>
          {module.files.map((file) => (
            <div class="cut" key={file.name} data-tip={file.name}>
              <RoomContext.Provider value={ROOM}>
                <Name text={file.name} />
              </RoomContext.Provider>
            </div>
          ))}
        </dd>
      </dl>
      {module.pair && (
        <p>
          <Link to={{ module: module.pair, name: null, line: null }}>
            {module.stage === 'before_optimizations' ? 'After the optimisations' : 'Before the optimisations'}
          </Link>
        </p>
      )}
      <p>
        <a href={address('api/hlo', { run, module: module.key, format: 'txt' })} download={`${module.name}.hlo.txt`}>
          Text as a file
        </a>
      </p>
      {module.documents.length > 0 && (
        <section>
          <h3 class="section">Compiler files</h3>
          <ul class="hlo-hop hlo-files">
            {module.documents.map((one) => (
              <li key={one.key}>
                <a href={address('api/hlo', { run, document: one.key })} target="_blank" rel="noopener">
                  <Name
                    text={stage && one.kind.startsWith(`${stage}-`) ? one.kind.slice(stage.length + 1) : one.kind}
                  />
                </a>
                <span class="number quiet">{plural(one.line_count, 'line')}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p class="faint">Choose an instruction for its operands and users{query.value.q ? '' : ', or search'}.</p>
    </aside>
  );
}
