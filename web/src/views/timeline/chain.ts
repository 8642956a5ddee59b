/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice waited for, link by link to the left, as the server finds it.
 *
 *   host    [launch]---.
 *   device  [a      ]  `->[b   ][focus]      focus <- b <- launch, where launch ended after a
 */
import type { ChainLink, Slice } from '../../data/types';
import { toBig } from '../../model/numbers';
import type { DrawnFlow } from './flows';

/* An arrow to each link's successor, from where the link was ready. */
export function chainFlows(focus: Slice, links: readonly ChainLink[]): DrawnFlow[] {
  return links.map((link, index) => {
    const to = links[index - 1] ?? focus;
    const begin = toBig(to.start_ps);
    return {
      from: { track: link.track, depth: link.depth, time: begin - toBig(link.gap_ps) },
      to: { track: to.track, depth: to.depth, time: begin },
    };
  });
}
