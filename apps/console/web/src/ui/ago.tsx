import { useTexts } from "../i18n/texts.ts";
import { createStore, useStore } from "./create-store.ts";

const TICK_MS = 30_000;
const now = createStore(Date.now());
let followers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** A shared clock for all ages; it runs while any component uses it. */
const clock = {
  ...now,
  subscribe(listener: () => void) {
    followers += 1;
    if (followers === 1) timer = setInterval(() => now.set(Date.now()), TICK_MS);
    const end = now.subscribe(listener);
    return () => {
      end();
      followers -= 1;
      if (followers === 0) clearInterval(timer);
    };
  },
};

/** The time in milliseconds, updated twice a minute. */
export const useNow = (): number => useStore(clock);

/**
 * The age of an event as briefly as possible; `as` selects the form within a sentence, or the start time. The exact
 * time is the tooltip.
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
