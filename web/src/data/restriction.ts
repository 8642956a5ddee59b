/* SPDX-License-Identifier: Apache-2.0 */
/* What all views are narrowed to, as parameters of the API. */
import { formatQuery, isOfCounted, parseQuery, restrictionOf } from '../model/address';
import { fromAddress } from './place';

export const restriction = fromAddress(
  (query) => formatQuery(restrictionOf(query)),
  (text) => parseQuery(text!),
);

/* The same for tables of ops: without steps or a range in the address the steps that count. */
export const opRestriction = fromAddress(
  (query) => formatQuery({ ...(isOfCounted(query) ? { step: 'counted' } : {}), ...restrictionOf(query) }),
  (text) => parseQuery(text!),
);

/* Of these, what an endpoint knows: steps have no ops, allocators no scopes. */
export function restrictedBy(...keys: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(restriction.value).filter(([key]) => keys.includes(key)));
}
export const stepRestriction = () => restrictedBy('host', 'step', 'start_ps', 'end_ps');
export const memoryRestriction = () => restrictedBy('host', 'step', 'start_ps', 'end_ps');
