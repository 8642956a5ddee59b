/* SPDX-License-Identifier: Apache-2.0 */
/* The focus goes to something that is not on the page yet. */

let forget = (): void => undefined;

/* To the first that `selector` finds, as soon as it is there; who goes elsewhere before stays there. */
export function focusSoon(selector: string): void {
  forget();
  const look = (): void => {
    const there = document.querySelector<HTMLElement>(selector);
    if (there === null) return;
    forget();
    there.focus();
  };
  const watch = new MutationObserver(look);
  const leave = (): void => forget();
  forget = () => {
    watch.disconnect();
    removeEventListener('focusin', leave);
    removeEventListener('pointerdown', leave);
    forget = () => undefined;
  };
  watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ['tabindex'] });
  addEventListener('focusin', leave);
  addEventListener('pointerdown', leave);
  look();
}
