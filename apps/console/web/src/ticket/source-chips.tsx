import { FileText } from "lucide-react";
import type { Source } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";

/** The documents that an answer quotes, one chip each; it opens the passage. */
export function SourceChips({ sources, onSource }: { sources: readonly Source[]; onSource: (source: Source) => void }) {
  const { t } = useTexts();
  if (sources.length === 0) return null;
  return (
    <ul aria-label={t("draft.sources")} className="mt-2 flex flex-wrap gap-1">
      {sources.map((source, index) => (
        <li key={`${source.chunkId}-${index}`} className="max-w-full">
          <button
            type="button"
            onClick={() => onSource(source)}
            className="flex max-w-56 items-center gap-1 rounded bg-surface/70 px-1.5 py-0.5 text-2xs font-medium text-muted hover:bg-surface hover:text-ink"
          >
            <FileText aria-hidden className="size-3 shrink-0" />
            <span className="truncate">{source.title}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
