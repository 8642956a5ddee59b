/* SPDX-License-Identifier: Apache-2.0 */
/* What all views are narrowed to, as parameters of the API. */
import { formatQuery, parseQuery, restrictionOf } from '../model/address';
import { fromAddress } from './place';

export const restriction = fromAddress(
  (query) => formatQuery(restrictionOf(query)),
  (text) => parseQuery(text!),
);

/* Of these, what an endpoint knows: steps have no ops, allocators no scopes. */
export function restrictedBy(...keys: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(restriction.value).filter(([key]) => keys.includes(key)));
}
export const stepRestriction = () => restrictedBy('host', 'step', 'start_ps', 'end_ps');
export const memoryRestriction = () => restrictedBy('host', 'step', 'start_ps', 'end_ps');
