/* SPDX-License-Identifier: Apache-2.0 */
/* At the first visit: what a drag shall do. Whoever comes from Perfetto is used to the reverse. */
import { query } from '../../data/place';
import { change, settings } from '../../ui/settings';

const COARSE = matchMedia('(pointer: coarse)');

export function GestureOffer() {
  if (settings.value.gestures !== null || COARSE.matches || query.value.embed === '1') return null;
  return (
    <div class="gesture-offer" role="note">
      <span class="cut">Drag pans, shift + drag selects.</span>
      <button class="framed" onClick={() => change({ gestures: 'pan' })}>
        Keep
      </button>
      <button class="framed" onClick={() => change({ gestures: 'select' })}>
        The reverse, as in Perfetto
      </button>
    </div>
  );
}
