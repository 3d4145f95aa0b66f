import { StickyNote } from "lucide-react";
import { useTexts } from "../i18n/use-texts.ts";
import { Markdown } from "../ui/markdown.tsx";

/** What operators have written for each other. */
export function NoteView({ name, at, text }: { name: string; at: string; text: string }) {
  const { dateTime, t, timeOfDay } = useTexts();
  return (
    <article
      aria-label={t("note.of", { name })}
      className="rounded-lg border border-warn/25 bg-warn-soft px-3.5 py-2.5"
    >
      <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
        <StickyNote aria-hidden className="size-3.5 text-warn" />
        <span className="font-medium text-ink">{name}</span>
        <time dateTime={at} title={dateTime(at)}>
          {timeOfDay(at)}
        </time>
        <span>· {t("note.internal")}</span>
      </p>
      <Markdown text={text} />
    </article>
  );
}
