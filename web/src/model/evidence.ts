/* SPDX-License-Identifier: Apache-2.0 */
/* Where a finding's evidence stands, as a change of the address: one click away. */
import { toBig } from './numbers';
import { VIEWS, formatSpan, type Changes } from './address';
import type { Evidence } from '../data/findings';

/* A tenth more at each side, so that its edges are seen. */
function around(start: bigint, end: bigint): string {
  const more = (end - start) / 10n + 1n;
  return formatSpan({ start: start - more, end: end + more });
}

function placeOf(evidence: Evidence): Record<string, string> {
  const place: Record<string, string> = {};
  if (evidence.host !== null) place.host = evidence.host;
  if (evidence.step !== null) place.step = String(evidence.step);
  if (evidence.find !== null) place.name = evidence.find;
  if (evidence.module !== null) place.module = evidence.module;
  return place;
}

/* null: it stands nowhere in particular. */
export function linkOf(evidence: Evidence): Changes | null {
  const view = evidence.view;
  if (view !== null && view !== 'timeline') {
    if (!(VIEWS as readonly string[]).includes(view)) return null;
    return { view, ...(evidence.by === null ? {} : { by: evidence.by }), ...placeOf(evidence) };
  }
  const place: Record<string, string> = { view: 'timeline' };
  if (evidence.slice !== null) place.slice = evidence.slice;
  if (evidence.start_ps !== null && evidence.end_ps !== null) {
    place.window = around(toBig(evidence.start_ps), toBig(evidence.end_ps));
    place.start_ps = String(evidence.start_ps);
    place.end_ps = String(evidence.end_ps);
  } else if (evidence.step !== null) {
    place.step = String(evidence.step);
  }
  if (evidence.track !== null) place.open = evidence.track;
  return Object.keys(place).length > 1 ? place : view === 'timeline' ? place : null;
}
