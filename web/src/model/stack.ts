/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts side by side from the begin of one step.
 *
 *   hostA  ....[step 3 ]          shift 0
 *   hostB  ......[step 3  ]       shift 2: drawn two to the left
 */
import type { StepRow } from '../data/types';
import { toBig } from './numbers';

/* By host, from the one that began first; empty where no host has that step. */
export function shiftsOf(
  steps: readonly Pick<StepRow, 'step' | 'host' | 'start_ps'>[],
  asked: string | undefined,
): ReadonlyMap<string, bigint> {
  const begins = steps
    .filter((step) => String(step.step) === asked)
    .map((step) => [step.host ?? '', toBig(step.start_ps)] as const);
  const first = begins.reduce<bigint | null>((least, [, at]) => (least === null || at < least ? at : least), null);
  return new Map(begins.map(([host, at]) => [host, at - first!]));
}
