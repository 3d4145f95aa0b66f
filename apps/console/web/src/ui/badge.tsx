import type { ReactNode } from "react";

const TONES = {
  plain: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;
export type Tone = keyof typeof TONES;

/** A word or two that say what state something is in. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex h-5 max-w-full shrink-0 items-center gap-1 truncate rounded px-1.5 text-2xs font-semibold ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
