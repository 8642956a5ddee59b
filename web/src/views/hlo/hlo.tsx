/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled modules: the list, the text with the focus in view, and what stands around it. */
import { useMemo, useEffect } from 'preact/hooks';
import { address } from '../../data/api';
import type { HloComputation, HloInstruction, HloList, HloModule, HloPage } from '../../data/hlo';
import { go, query } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunDetails } from '../../data/types';
import { cutMiddle, shown } from '../../model/cut';
import { count, inScale, plural, time, timeExact, timeScale, toNumber } from '../../model/numbers';
import type { Sentence } from '../../model/sentence';
import { registerActions } from '../../ui/keys';
import { Link } from '../../ui/link';
import { Empty, Failed, Waiting } from '../../ui/states';
import type { Column } from '../../ui/table';
import { TableBar, TableBelow } from '../../ui/table_bar';
import { Name, SentenceLine } from '../../ui/text';
import { useTyped } from '../../ui/typed';
import { useTable } from '../../ui/use_table';
import { lazy } from '../../ui/lazy';
import { HloFiles, HloInstructionPane, HloSearchPane } from './instruction';
import { HloText } from './text';

/* With the library that lays it out. */
const HloPicture = lazy(() => import('./graph/picture').then((module) => module.HloPicture));

const MODULES_MAX = 1000;
const COMPUTATIONS_MAX = 10_000;
const NAME_LETTERS = 56;
const named = (text: string): string => cutMiddle(shown(text), NAME_LETTERS);

function Absent({ reason }: { reason: string | null }) {
  return (
    <Empty copy="XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_proto">
      {reason ? `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.?$/, '.')} ` : ''}JAX's profiler keeps
      the modules that ran; every module is kept by:
    </Empty>
  );
}

/* What is asked for by key, or by name, number or fingerprint as the API takes it; else what took longest, or is
 * longest. */
function choose(modules: readonly HloModule[], asked: string | undefined): HloModule | null {
  const weight = (module: HloModule): number =>
    (module.stage === 'after_optimizations' ? 0.5 : 0) +
    (module.self_ps === null ? 0 : toNumber(module.self_ps)) +
    module.instruction_count / 1e8;
  const heaviest = (of: readonly HloModule[]): HloModule | null =>
    of.reduce<HloModule | null>((best, one) => (best === null || weight(one) > weight(best) ? one : best), null);
  if (asked === undefined) return heaviest(modules);
  return (
    modules.find((module) => module.key === asked) ??
    heaviest(modules.filter((module) => [module.name, module.program_id, module.fingerprint].includes(asked)))
  );
}

/* What ran longest stands first; what did not run, in the order of the reply. */
function longestFirst(modules: readonly HloModule[]): HloModule[] {
  const weight = (module: HloModule): number => (module.self_ps === null ? 0 : toNumber(module.self_ps));
  return [...modules].sort((a, b) => weight(b) - weight(a));
}

/* What a graph shows of one module means nothing in another. */
const NO_GRAPH = { around: null, computation: null, inside: null, depth: null } as const;

/* The name alone where it means one module: the other views are narrowed by it, too. */
function addressOf(module: HloModule, modules: readonly HloModule[]): string {
  return modules.filter((one) => one.name === module.name).length === 1 ? module.name : module.key;
}

function sentenceOf(module: HloModule, total: number): Sentence {
  const sentence: Sentence = [
    `${named(module.name)}: `,
    { strong: count(module.instruction_count) },
    ` ${module.instruction_count === 1 ? 'instruction' : 'instructions'}`,
  ];
  if (module.fusion_count > 0) sentence.push(`, ${plural(module.fusion_count, 'fusion')}`);
  if (module.execution_count !== null && module.self_ps !== null && module.execution_count > 0)
    sentence.push('; run ', { strong: plural(module.execution_count, 'time') }, ' in ', {
      strong: time(module.self_ps),
    });
  else if (module.execution_count === 0) sentence.push('; it did not run while the profile was taken');
  sentence.push(total > 1 ? `. ${plural(total, 'module')} in all.` : '.');
  return sentence;
}

function columnsOf(modules: readonly HloModule[]): Column<HloModule>[] {
  const self = timeScale(modules.map((module) => module.self_ps));
  const stages = modules.some((module) => module.stage !== 'after_optimizations');
  const words = { before_optimizations: 'before', pass: 'pass', after_optimizations: 'after' } as const;
  const columns: (Column<HloModule> | false)[] = [
    {
      key: 'key',
      title: 'module',
      width: 'minmax(120px, 1fr)',
      exact: (module) => module.stage_name ?? module.key,
      cell: (module) => (
        <Name text={module.stage === 'pass' ? module.key : `${module.name}(${module.program_id})`} mono />
      ),
    },
    stages && {
      key: 'stage',
      title: 'stage',
      width: '48px',
      groups: true,
      cell: (module) => (module.stage ? words[module.stage] : '–'),
    },
    modules.some((module) => module.self_ps !== null) && {
      key: 'self_ps',
      title: 'self',
      unit: self.unit,
      width: '72px',
      numeric: true,
      sums: (sum) => inScale(sum, self),
      cell: (module) => inScale(module.self_ps, self),
      exact: (module) => (module.self_ps === null ? (module.reasons.self_ps ?? null) : timeExact(module.self_ps)),
    },
    {
      key: 'instruction_count',
      title: 'instructions',
      width: '96px',
      numeric: true,
      optional: true,
      sums: count,
      cell: (module) => count(module.instruction_count),
    },
    {
      key: 'execution_count',
      title: 'runs',
      width: '64px',
      numeric: true,
      optional: true,
      cell: (module) => (module.execution_count === null ? '–' : count(module.execution_count)),
      exact: (module) => module.reasons.execution_count ?? null,
    },
  ];
  return columns.filter((column) => column !== false);
}

function SearchField() {
  const [text, setText] = useTyped('q');
  useEffect(
    () => registerActions({ search: () => document.querySelector<HTMLInputElement>('.hlo-search')?.focus() }),
    [],
  );
  return (
    <input
      class="hlo-search"
      type="search"
      aria-label="Search instructions"
      placeholder="search: dot, layer_1/mlp, model.py"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

function Reader({ run, module }: { run: RunDetails; module: HloModule }) {
  const { name, line, q } = query.value;
  const focus = useJson<{ instruction: HloInstruction }>(name ? 'api/hlo' : null, {
    run: run.id,
    module: module.key,
    instruction: name,
  });
  const computations = useJson<HloPage<HloComputation>>('api/hlo', {
    run: run.id,
    module: module.key,
    view: 'computations',
    limit: COMPUTATIONS_MAX,
  });
  const names = useMemo(
    () => new Map((computations.data?.rows ?? []).map((one) => [one.name, one.line])),
    [computations.data],
  );
  const entry = computations.data?.rows.find((one) => one.entry) ?? null;
  const instruction = name && focus.data && focus.data.instruction.name === name ? focus.data.instruction : null;
  const asked = line !== undefined && /^\d{1,9}$/.test(line) ? Number(line) : null;
  const lost = name !== undefined && focus.error !== null;
  const isGraph = query.value.as === 'graph';
  return (
    <>
      <div class="hlo-main">
        <div class="toolbar">
          <nav class="crumbs" aria-label="Shown as">
            <Link to={{ as: null }} current={!isGraph}>
              text
            </Link>
            <Link to={{ as: 'graph' }} current={isGraph}>
              graph
            </Link>
          </nav>
          <SearchField />
          {lost && <span class="warn">There is no instruction “{named(name)}” in this module.</span>}
        </div>
        {isGraph ? (
          <HloPicture run={run.id} module={module} entry={entry?.name ?? null} />
        ) : (
          <HloText
            run={run.id}
            module={module}
            focus={instruction?.line ?? asked}
            start={entry?.line ?? 1}
            names={names}
          />
        )}
      </div>
      {q ? (
        <HloSearchPane run={run.id} module={module} q={q} />
      ) : instruction ? (
        <HloInstructionPane of={instruction} />
      ) : (
        <HloFiles run={run.id} module={module} />
      )}
    </>
  );
}

export function HloView({ run, absent }: { run: RunDetails; absent: string | null }) {
  const list = useJson<HloList>(absent === null ? 'api/hlo' : null, { run: run.id, limit: MODULES_MAX });
  const modules = longestFirst(list.data?.modules ?? []);
  const table = useTable<HloModule>({
    columns: columnsOf(modules),
    rows: modules,
    sort: '',
    here: true,
    prefix: 'modules_',
    also: { name: (module) => module.name, program: (module) => module.program_id },
  });
  if (absent !== null) return <Absent reason={absent} />;
  if (list.error) return <Failed error={list.error} />;
  if (!list.data) return list.waiting ? <Waiting what="Reading the modules." progress={list.progress} /> : null;
  const { row_count: all } = list.data;
  if (modules.length === 0) return <Absent reason={list.data.reasons.modules ?? null} />;
  const asked = query.value.module;
  const module = choose(modules, asked);
  return (
    <>
      {module ? (
        <SentenceLine sentence={sentenceOf(module, all)} />
      ) : (
        <p class="sentence">
          There is no module “{named(asked ?? '')}” in this run; there are {plural(all, 'other')}.
        </p>
      )}
      <div class={modules.length > 1 ? 'hlo' : 'hlo alone'}>
        <div class="hlo-list">
          <TableBar
            table={table}
            noun="module"
            total={all}
            example="jit_ self>1ms"
            file={`${run.name}-modules`}
            csv={address('api/hlo', { run: run.id, limit: 10_000, format: 'csv' })}
          />
          <TableBelow
            table={table}
            total={all}
            label="Modules"
            rowKey={(one) => one.key}
            focused={module?.key ?? null}
            scroll
            onOpen={(one) =>
              go({ module: addressOf(one, modules), name: null, line: null, q: null, ...NO_GRAPH }, 'push')
            }
          />
        </div>
        {module && <Reader key={module.key} run={run} module={module} />}
      </div>
    </>
  );
}
