/* SPDX-License-Identifier: Apache-2.0 */
/* What can be taken away from a run. */
import { address } from '../../data/api';
import type { RunDetails } from '../../data/types';
import { size } from '../../model/numbers';
import { Menu } from '../../ui/menu';
import { rangeOf } from '../../model/address';
import { query } from '../../data/place';

/* Words, address, name of the file. */
export function downloadsOf(run: RunDetails): [string, string, string][] {
  const range = rangeOf(query.value);
  const base = { run: run.id };
  const window = range ? { start_ps: range.start, end_ps: range.end } : {};
  return [
    ['Chrome JSON, gzipped', address('api/trace', { ...base, format: 'perfetto' }), `${run.name}.json.gz`],
    ...(range
      ? [
          [
            'Chrome JSON of the range',
            address('api/trace', { ...base, format: 'perfetto', ...window }),
            `${run.name}-range.json.gz`,
          ] as [string, string, string],
        ]
      : []),
    ['Bundle for another jviewd', address('api/bundle', base), `${run.name}.jvz`],
    ['Standalone page', address('api/bundle', { ...base, html: 'yes' }), `${run.name}.html`],
    ['Ops as CSV', address('api/top', { ...base, limit: 10_000, format: 'csv' }), `${run.name}-ops.csv`],
    ['Steps as CSV', address('api/steps', { ...base, limit: 10_000, format: 'csv' }), `${run.name}-steps.csv`],
    ['Flame graph, folded', address('api/flame', { ...base, format: 'folded' }), `${run.name}.folded`],
    [
      'Flame graph for speedscope',
      address('api/flame', { ...base, format: 'speedscope' }),
      `${run.name}.speedscope.json`,
    ],
  ];
}

export function DownloadMenu({ run }: { run: RunDetails }) {
  const items = downloadsOf(run);
  return (
    <Menu words="Download">
      {(close) =>
        items.map(([words, href, name]) => (
          <a key={words} role="menuitem" href={href} download={name} onClick={close}>
            {words}
            {words.startsWith('Chrome JSON, ') && <span class="faint">from {size(run.file_bytes)}</span>}
          </a>
        ))
      }
    </Menu>
  );
}
