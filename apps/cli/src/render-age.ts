const UNITS = [
  { ms: 86_400_000, name: "day" },
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
  { ms: 1_000, name: "second" },
] as const;

/** A span of time in the largest unit that it is at least twice of, as in "5 minutes". */
export function renderAge(spanMs: number): string {
  const unit = UNITS.find(({ ms }) => spanMs >= 2 * ms) ?? { ms: 1_000, name: "second" };
  const count = Math.round(spanMs / unit.ms);
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}
