import type { ReactNode } from "react";

/** A number with its name and a line of text. */
export function Tile({ label, value, text }: { label: string; value: string; text: ReactNode }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-3.5">
      <dt className="text-sm text-muted">{label}</dt>
      <dd>
        <span className="block text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className="block min-h-4 text-xs text-muted">{text}</span>
      </dd>
    </div>
  );
}
