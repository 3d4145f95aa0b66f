import { useTexts } from "../i18n/use-texts.ts";
import { useNow } from "./use-now.ts";

/** How long ago something was; the time itself when it is pointed at. */
export function Ago({ time, className }: { time: string; className?: string }) {
  const texts = useTexts();
  const nowMs = useNow();
  return (
    <time dateTime={time} title={texts.dateTime(time)} className={className}>
      {texts.ago(time, nowMs)}
    </time>
  );
}
