import { useMemo } from "react";
import { diffTexts } from "./mark-words.ts";

/** The changes from one text to another, with deletions struck out and insertions marked, also for screen readers. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const parts = useMemo(() => diffTexts(before, after), [before, after]);
  return (
    <div
      dir="auto"
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-96 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2.5 text-sm wrap-anywhere whitespace-pre-wrap"
    >
      {parts.map(({ added, removed, value }, index) => {
        if (added) {
          return (
            <ins key={index} className="rounded-xs bg-ok-soft text-ok no-underline">
              {value}
            </ins>
          );
        }
        if (removed) {
          return (
            <del key={index} className="rounded-xs bg-bad-soft text-bad">
              {value}
            </del>
          );
        }
        return <span key={index}>{value}</span>;
      })}
    </div>
  );
}
