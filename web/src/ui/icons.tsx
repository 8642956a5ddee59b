/* SPDX-License-Identifier: Apache-2.0 */
/* The few pictures: 16 × 16, one stroke, the colour of the words beside them. */
const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  pin: 'M5.5 2.5h5M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  hide: 'M2 8c2-3.3 4-4.5 6-4.5S12 4.7 14 8c-2 3.3-4 4.5-6 4.5S4 11.3 2 8M3 13L13 3',
  only: 'M8 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3',
  search: 'M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l3.5 3.5',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
