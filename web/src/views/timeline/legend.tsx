/* SPDX-License-Identifier: Apache-2.0 */
/* What the colours on the screen tell: only those that are there, with a word each. */
import { query } from '../../data/place';
import { KINDS } from '../../data/types';
import { NEUTRAL, OTHER_FAMILY, UNRECORDED } from '../../draw/row_image';
import { AMOUNT_WORDS, FAMILIES, FAMILY_WORDS } from '../../model/colouring';
import { cutMiddle, shown } from '../../model/cut';
import type { TimelineState } from './state';

const NAME_LETTERS = 32;
const TITLES = { kind: 'kind of work', name: 'name, widest first', self: 'self time, of the heaviest name' };

/* `beside`: on the same axis, what it shows counts too. */
export function Legend({ state, beside }: { state: TimelineState; beside?: TimelineState }) {
  if (query.value.legend === 'off') return <div />;
  const { names } = state.inUse.value;
  const families = state.inUse.value.families | (beside?.inUse.value.families ?? 0);
  const kinds = state.inUse.value.kinds | (beside?.inUse.value.kinds ?? 0);
  const colouring = state.colouring.value;
  const { texts, hues } = state.store.names;
  const item = (words: string, look: string, fill?: string) => (
    <li key={words} data-tip={words}>
      <span class={`swatch ${look}`} style={fill && { '--fill': `var(--${fill})`, '--stroke': 'var(--edge)' }} />
      <bdi>{cutMiddle(words, NAME_LETTERS)}</bdi>
    </li>
  );
  return (
    <div class="timeline-legend">
      <span>{TITLES[colouring]}</span>
      <ul class="legend" aria-label="Colours of the timeline">
        {colouring === 'kind' &&
          FAMILIES.flatMap((family, index) =>
            families & (1 << index) ? item(FAMILY_WORDS[family], '', `compute-${family}`) : [],
          )}
        {colouring === 'kind' &&
          KINDS.flatMap((kind, index) => {
            if (!(kinds & (1 << index)) || kind === 'idle') return [];
            const isRest = kind === 'compute' && (families & ~(1 << OTHER_FAMILY)) !== 0;
            return [item(isRest ? 'other compute' : kind, `kind-${kind}`)];
          })}
        {colouring === 'self' && AMOUNT_WORDS.map((words, level) => item(words, '', `amount-${level + 1}`))}
        {colouring === 'name' && names.map((name) => item(shown(texts[name]), '', `name-${hues[name]! + 1}`))}
        {kinds & (1 << NEUTRAL) ? item('steps, modules, scopes', '', 'bg-3') : null}
        {kinds & (1 << UNRECORDED) ? item('not recorded', 'unrecorded') : null}
      </ul>
    </div>
  );
}
