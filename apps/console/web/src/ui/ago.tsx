import { useTexts } from "../i18n/use-texts.ts";
import { useNow } from "./use-now.ts";

/**
 * How long ago something was, as briefly as it can be said; `as` says it within a sentence, or since when it is. The time
 * itself where it is pointed at.
 */
export function Ago({
  time,
  as = "ago",
  className,
}: {
  time: string;
  as?: "ago" | "past" | "since";
  className?: string;
}) {
  const texts = useTexts();
  const nowMs = useNow();
  return (
    <time dateTime={time} title={texts.dateTime(time)} className={className}>
      {texts[as](time, nowMs)}
    </time>
  );
}
