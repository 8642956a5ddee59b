/* SPDX-License-Identifier: Apache-2.0 */
/* A link within the page: an address to copy or open elsewhere, a plain click goes in place. Where the
 * page does not reach, its words stay. */
import type { ComponentChildren } from 'preact';
import { follow, hrefOf, isReached } from '../data/place';
import type { Changes } from '../model/address';

interface Props {
  to: Changes;
  class?: string | undefined;
  title?: string | undefined;
  current?: boolean;
  children: ComponentChildren;
}

export function Link({ to, children, current, ...rest }: Props) {
  if (!isReached(to))
    return (
      <span class={rest.class} title={rest.title} data-unreached>
        {children}
      </span>
    );
  return (
    <a href={hrefOf(to)} onClick={(event) => follow(event, to)} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}
