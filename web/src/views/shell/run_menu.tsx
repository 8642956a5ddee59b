/* SPDX-License-Identifier: Apache-2.0 */
/* The other runs, newest first, one click away; what the page is narrowed to stays where it can. */
import { go } from '../../data/place';
import { useJson } from '../../data/resource';
import type { RunDetails, RunList } from '../../data/types';
import { runChange } from '../../model/address';
import { time } from '../../model/numbers';
import { Menu } from '../../ui/menu';
import { Name } from '../../ui/text';

const SHOWN_MAX = 20;

function Runs({ run, close }: { run: RunDetails; close: () => void }) {
  const list = useJson<RunList>('api/runs', { limit: SHOWN_MAX });
  const runs = list.data?.runs ?? [];
  const choose = (name: string) => () => {
    close();
    go(runChange(name), 'push');
  };
  return (
    <>
      {runs.map((one) => (
        <button
          key={one.id}
          role="menuitem"
          aria-current={one.id === run.id ? 'true' : undefined}
          onClick={choose(one.name)}
        >
          <Name text={one.name} />
          <span class="faint">{one.step_median_ps === null ? '' : time(one.step_median_ps)}</span>
        </button>
      ))}
      {(list.data?.row_count ?? 0) > runs.length && (
        <button role="menuitem" onClick={() => (close(), go({ ...runChange(''), view: 'runs' }, 'push'))}>
          all {list.data!.row_count} runs
        </button>
      )}
    </>
  );
}

export function RunMenu({ run }: { run: RunDetails }) {
  return (
    <Menu words="" label="Other runs">
      {(close) => <Runs run={run} close={close} />}
    </Menu>
  );
}
