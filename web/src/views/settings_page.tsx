/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as a page: `view=settings`, with a run behind it or without. */
import { useEffect } from 'preact/hooks';
import { query } from '../data/place';
import { act, knows } from '../ui/keys';
import { Link } from '../ui/link';
import { SentenceLine } from '../ui/text';
import { PageHeader } from './shell/header';
import { LostBar } from './shell/lost_bar';
import { SettingsRows } from './shell/settings_rows';

export function SettingsPage() {
  useEffect(() => {
    document.title = 'Settings – jviewd';
  }, []);
  return (
    <div class="shell">
      <PageHeader title="settings" />
      <div />
      <LostBar />
      <main class="page">
        <SentenceLine sentence={['What this browser remembers; all else stands in the address.']} />
        <SettingsRows />
        <p class="state quiet">
          Tables keep their columns, groups, filter and unit in the address; the theme and the rest are kept here alone,
          and no server sees them.{' '}
          <Link to={{ view: query.value.run === undefined ? 'runs' : null }}>
            {query.value.run === undefined ? 'To the runs' : 'Back to the run'}
          </Link>
          {knows('help') && (
            <>
              {' · '}
              <button class="framed" onClick={() => act('help')}>
                Keys
              </button>
            </>
          )}
        </p>
      </main>
    </div>
  );
}
