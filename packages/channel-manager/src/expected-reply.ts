import type { BusinessHours } from "@svc/contracts";
import { isOpen, nextOpening } from "./business-time.ts";
import texts from "./expected-reply.json" with { type: "json" };

/** Texts by language (ISO 639-1): when the team works again, and how fast it usually replies. */
const TEXTS: Readonly<Record<string, { back: string; within: string }>> = texts;

/** Settings of a project about its reply times. */
export interface ReplyTimes {
  businessHours: BusinessHours | null;
  replyTimeMinutes: number | null;
}

/** Minutes of the displayed units, largest first. */
const UNITS = [
  ["day", 1_440],
  ["hour", 60],
  ["minute", 1],
] as const;

function describeMinutes(minutes: number, language: string): string {
  const [unit, length] = UNITS.find(([, size]) => minutes % size === 0) ?? UNITS[2];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(minutes / length);
}

const describeMoment = (moment: Date, language: string, timeZone: string) =>
  new Intl.DateTimeFormat(language, {
    weekday: "long",
    day: "numeric",
    month: "long",
    hour: "numeric",
    minute: "2-digit",
    timeZone,
    timeZoneName: "short",
  }).format(moment);

/**
 * Returns when a customer can expect a reply from a person, as a sentence in a language (BCP 47), or in English if there
 * is no text in it: when the team works again, or how fast it usually replies while it works. Empty if neither is known.
 */
export function describeExpectedReply(
  { businessHours, replyTimeMinutes }: ReplyTimes,
  { locale, now = new Date() }: { locale: string; now?: Date },
): string {
  const primary = locale.split("-", 1)[0]?.toLowerCase() ?? "";
  const language = Object.hasOwn(TEXTS, primary) ? primary : "en";
  const { back, within } = TEXTS[language] ?? texts.en;
  if (businessHours !== null && !isOpen(businessHours, now)) {
    const opening = nextOpening(businessHours, now);
    if (opening === null) return "";
    return back.replace("{when}", () => describeMoment(opening, language, businessHours.timeZone));
  }
  return replyTimeMinutes === null ? "" : within.replace("{time}", () => describeMinutes(replyTimeMinutes, language));
}
