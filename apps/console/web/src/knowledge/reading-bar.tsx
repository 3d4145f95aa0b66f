/** How far something is that is being read. */
export function ReadingBar({ done, all, label }: { done: number; all: number; label: string }) {
  const percent = all === 0 ? 0 : Math.round((Math.min(done, all) / all) * 100);
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2.5">
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1.5 min-w-16 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
      </div>
      <span className="shrink-0 text-xs text-muted tabular-nums">{label}</span>
    </div>
  );
}
