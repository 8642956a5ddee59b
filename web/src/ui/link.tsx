/* A link within the page: an address to copy or open elsewhere, a plain click goes in place. */
import type { ComponentChildren } from 'preact';
import { follow, hrefOf } from '../data/place';
import type { Changes } from '../model/address';

interface Props {
  to: Changes;
  class?: string | undefined;
  title?: string | undefined;
  current?: boolean;
  children: ComponentChildren;
}

export function Link({ to, children, current, ...rest }: Props) {
  return (
    <a href={hrefOf(to)} onClick={(event) => follow(event, to)} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}
