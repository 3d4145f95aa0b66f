import { InvalidArgumentError } from "commander";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Seconds of a duration such as `90d`, `24h`, `30m`, `45s` or `0`; null when the text is none. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,9})([a-z])$/.exec(text) ?? [];
  const unitSeconds = UNIT_SECONDS[unit];
  return count === undefined || unitSeconds === undefined ? null : Number(count) * unitSeconds;
}

/** Reads an option that is a duration of at most so many seconds. */
export function durationUpTo(max: { seconds: number; text: string }): (text: string) => number {
  return (text) => {
    const seconds = parseDuration(text);
    if (seconds !== null && seconds <= max.seconds) return seconds;
    throw new InvalidArgumentError(`Must be a duration such as 24h, 30m, 45s or 0, at most ${max.text}.`);
  };
}
