/* SPDX-License-Identifier: Apache-2.0 */
/* A reply that follows a moving question: one request at a time, then the newest question.
 *
 *   question   a b c d e f g ........
 *   asked      a────┘c────┘e────┘g        none is given up half made, b, d and f are never asked
 */
import { useEffect, useState } from 'preact/hooks';
import { address, type Params } from './api';
import { useJson, type Resource } from './resource';

export function useSteady<T>(path: string | null, params: Params): Resource<T> {
  const [asked, setAsked] = useState({ path, params });
  const resource = useJson<T>(asked.path, asked.params);
  const keyOf = (one: typeof asked): string | null => (one.path === null ? null : address(one.path, one.params));
  const wanted = keyOf({ path, params });
  useEffect(() => {
    if (!resource.waiting && wanted !== keyOf(asked)) setAsked({ path, params });
  }, [wanted, resource.waiting, asked]);
  return resource;
}
