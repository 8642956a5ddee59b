/* SPDX-License-Identifier: Apache-2.0 */
/* A run without a timeline - a heap, programs - on a page about time: why, where its answers are, and how
 * to record one. Who asked for no page in particular is led to the answers at once. */
import { useEffect } from 'preact/hooks';
import { go, query } from '../data/place';
import { absence, type RunDetails } from '../data/types';
import type { View } from '../model/address';
import { sentenceCase } from '../model/sentence';
import { Link } from '../ui/link';
import { HowToRecord } from '../ui/states';
import { Prose, SentenceLine } from '../ui/text';

const PLACES: readonly { view: View; words: string }[] = [
  { view: 'memory', words: 'what is allocated' },
  { view: 'flame', words: 'by call stack' },
  { view: 'hlo', words: 'the compiled programs' },
  { view: 'files', words: 'the files' },
];

export function isElsewhere(run: RunDetails, view: View): boolean {
  const why = absence(run, 'timeline');
  return why !== null && absence(run, view) === why;
}

export function Elsewhere({ run, view }: { run: RunDetails; view: View }) {
  const places = PLACES.filter((place) => absence(run, place.view) === null);
  useEffect(() => {
    if (query.value.view === undefined) go({ view: places[0]!.view }, 'replace');
  }, []);
  return (
    <>
      <SentenceLine sentence={[sentenceCase(absence(run, view)!)]} />
      {run.error && (
        <p class="state error">
          <Prose text={run.error} />
        </p>
      )}
      <p class="state">
        {'See '}
        {places.map((place, index) => (
          <>
            {index > 0 && ', '}
            <Link to={{ view: place.view }}>{place.words}</Link>
          </>
        ))}
        .
      </p>
      <HowToRecord>To record a timeline, in the program:</HowToRecord>
    </>
  );
}
