/* SPDX-License-Identifier: Apache-2.0 */
/* By what, of what weight, in which order, which way up; and what can be taken away. Snapshots know one
 * way alone: by stack, with their own amounts, and nothing in it has a time. */
import { address, type Params } from '../../data/api';
import { go } from '../../data/place';
import { Menu } from '../../ui/menu';
import { saveFlame, type Picture } from './export';

export const BY: Readonly<Record<string, string>> = {
  scope: 'scope',
  stack: 'Python stack',
  source: 'source line',
  module: 'module',
  phase: 'part of the step',
  host: 'host call',
  track: 'track',
};
export const WEIGHTS: Readonly<Record<string, string>> = {
  self: 'time',
  time: 'whole durations',
  count: 'executions',
  bytes: 'bytes',
  flops: 'FLOPs',
};
const WEIGHT_TIPS: Readonly<Record<string, string>> = {
  self: 'Self time: each moment counts once.',
  time: 'Total time: a loop and the ops in it both count.',
  count: 'Executions that begin in the time range.',
  bytes: 'Bytes read and written, where known.',
  flops: 'A multiply-add is two.',
};

export function Choices({
  by,
  bys,
  isTorch,
  weight,
  order,
  flipped,
  folded,
}: {
  by: string;
  bys: readonly string[];
  isTorch: boolean;
  weight: string;
  order: string;
  flipped: boolean;
  folded: boolean;
}) {
  return (
    <>
      {bys.length > 1 && (
        <label>
          by{' '}
          <select
            value={by}
            onChange={(event) => go({ by: event.currentTarget.value, zoom: null, key: null, sandwich: null }, 'push')}
          >
            {bys.map((one) => (
              <option key={one} value={one}>
                {isTorch && one === 'host' ? 'call stack' : (BY[one] ?? one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {bys.length > 1 && (
        <label data-tip={WEIGHT_TIPS[weight]}>
          weight{' '}
          <select
            value={weight}
            onChange={(event) =>
              go({ weight: event.currentTarget.value === 'self' ? null : event.currentTarget.value }, 'replace')
            }
          >
            {Object.entries(WEIGHTS).map(([one, words]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
        </label>
      )}
      {bys.length > 1 && (
        <label>
          order{' '}
          <select
            value={order}
            onChange={(event) =>
              go({ order: event.currentTarget.value === 'heavy' ? null : event.currentTarget.value }, 'replace')
            }
          >
            <option value="heavy">heaviest left</option>
            <option value="time">by time</option>
          </select>
        </label>
      )}
      <label>
        root{' '}
        <select
          value={flipped ? 'below' : 'above'}
          onChange={(event) =>
            go({ roots: event.currentTarget.value === 'above' ? null : event.currentTarget.value }, 'replace')
          }
        >
          <option value="above">above</option>
          <option value="below">below</option>
        </select>
      </label>
      {by === 'scope' && (
        <label data-tip="layer_0, layer_1 become layer_*">
          <input
            type="checkbox"
            checked={folded}
            onChange={(event) =>
              go({ fold: event.currentTarget.checked ? 'siblings' : null, zoom: null, key: null }, 'replace')
            }
          />{' '}
          fold layers
        </label>
      )}
    </>
  );
}

export function Exports({
  params,
  name,
  picture,
}: {
  params: Params;
  name: string;
  picture: Omit<Picture, 'name'> | null;
}) {
  return (
    <Menu words="Save">
      {(close) => (
        <>
          <a
            role="menuitem"
            href={address('api/flame', { ...params, format: 'folded' })}
            download={`${name}.folded`}
            onClick={close}
          >
            folded stacks
          </a>
          <a
            role="menuitem"
            href={address('api/flame', { ...params, weight: null, format: 'speedscope' })}
            download={`${name}.speedscope.json`}
            onClick={close}
          >
            speedscope <span class="faint">all weights</span>
          </a>
          {picture && (
            <>
              {(['svg', 'png'] as const).map((as) => (
                <button key={as} role="menuitem" onClick={() => (saveFlame(as, { ...picture, name }), close())}>
                  {as.toUpperCase()} <span class="faint">of what is seen</span>
                </button>
              ))}
            </>
          )}
        </>
      )}
    </Menu>
  );
}
