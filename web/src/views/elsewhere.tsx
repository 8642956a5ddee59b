/* A run without a timeline - a heap, programs - on a page about time: why, and where its answers are. */
import { absence, type RunDetails } from '../data/types';
import type { View } from '../model/address';
import { Link } from '../ui/link';
import { SentenceLine } from '../ui/text';

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
  return (
    <>
      <SentenceLine sentence={[`${absence(run, view)!.replace(/\.$/, '')}.`]} />
      <p class="state">
        {'See '}
        {PLACES.filter((place) => absence(run, place.view) === null).map((place, index) => (
          <>
            {index > 0 && ', '}
            <Link to={{ view: place.view }}>{place.words}</Link>
          </>
        ))}
        .
      </p>
    </>
  );
}
