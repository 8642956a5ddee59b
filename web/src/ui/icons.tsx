/* The few pictures: 16 × 16, one stroke, the colour of the words beside them. */
const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  search: 'M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l3.5 3.5',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
