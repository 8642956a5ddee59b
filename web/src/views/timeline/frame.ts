/* SPDX-License-Identifier: Apache-2.0 */
/* A function that runs at most once a frame. */
export function oncePerFrame(run: () => void): { ask: () => void; stop: () => void } {
  let frame = 0;
  return {
    ask: () => (frame ||= requestAnimationFrame(() => ((frame = 0), run()))),
    stop: () => cancelAnimationFrame(frame),
  };
}
