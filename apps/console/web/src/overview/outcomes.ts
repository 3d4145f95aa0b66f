import type { Stats } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import type { BarPart } from "./plot-frame.tsx";

/** The figures that everything is told by: all, a channel, an agent, an hour, a day. */
export type Counts = Pick<Stats, "messages" | "automatic" | "handoffs" | "edits" | "firstReplyMs">;
type T = Texts["t"];

/** What the bar of how messages ended is made of. */
export const outcomeParts = (t: T): BarPart[] => [
  { label: t("overview.automatic"), look: "accent" },
  { label: t("overview.handoffs"), look: "warn" },
  { label: t("overview.others"), look: "rest" },
];

/** How messages ended: without a person, with one, and others, as those that were merged or are under way. */
export function outcomesOf({ automatic, handoffs, messages }: Counts): number[] {
  return [automatic, handoffs, Math.max(0, messages - automatic - handoffs)];
}

/** What the table beside that bar has. */
export const countColumns = (t: T): string[] => [
  t("overview.messages"),
  ...outcomeParts(t).map(({ label }) => label),
  t("overview.edits"),
];
export const countCells = (counts: Counts, { number }: Texts): string[] =>
  [counts.messages, ...outcomesOf(counts), counts.edits].map(number);

/** What the bar of the first reply's time is made of: up to p50, and from there to p90. */
export const timeParts = (t: T): BarPart[] => [
  { label: t("overview.p50"), look: "accent" },
  { label: t("overview.upToP90"), look: "rest" },
];

/** What the table beside that bar has: both times themselves. */
export const timeColumns = (t: T): string[] => [t("overview.p50"), t("overview.p90")];
export function timeCells({ firstReplyMs: { p50, p90 } }: Counts, { duration }: Texts): string[] {
  return [p50, p90].map((ms) => (ms === null ? "–" : duration(ms)));
}
