/** Stands at the corner of what has something new; its name says so in words. */
export const UnreadDot = () => (
  <span
    aria-hidden
    className="pointer-events-none absolute top-1 right-1 size-2 rounded-full bg-accent ring-2 ring-page"
  />
);
