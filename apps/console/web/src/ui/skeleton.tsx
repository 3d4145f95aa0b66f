/** Stands where something will be, as large as that. */
export const Skeleton = ({ className }: { className: string }) => (
  <span aria-hidden className={`animate-shimmer block rounded bg-line ${className}`} />
);
