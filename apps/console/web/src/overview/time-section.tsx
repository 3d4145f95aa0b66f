import type { Stats } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { Section } from "../ui/page-frame.tsx";
import { TimePlot } from "./plots.tsx";
import type { BarPart } from "./plots.tsx";

/** Numbers that exist for everything, a channel, an agent, an hour and a day. */
export type Counts = Pick<Stats, "messages" | "automatic" | "handoffs" | "edits" | "firstReplyMs">;
type T = Texts["t"];

/** The parts of the bar of messages' outcomes. */
export const outcomeParts = (t: T): BarPart[] => [
  { label: t("overview.automatic"), color: "accent" },
  { label: t("overview.handoffs"), color: "warn" },
  { label: t("overview.others"), color: "rest" },
];

/**
 * Returns the numbers of messages handled without a person, with one, and others, such as merged or unfinished ones.
 */
export function outcomesOf({ automatic, handoffs, messages }: Counts): number[] {
  return [automatic, handoffs, Math.max(0, messages - automatic - handoffs)];
}

/** The columns of the table beside that bar. */
export const countColumns = (t: T): string[] => [
  t("overview.messages"),
  ...outcomeParts(t).map(({ label }) => label),
  t("overview.edits"),
];
export const countCells = (counts: Counts, { number }: Texts): string[] =>
  [counts.messages, ...outcomesOf(counts), counts.edits].map(number);

/** The parts of the bar of times to the first reply: up to p50, and from there to p90. */
export const timeParts = (t: T): BarPart[] => [
  { label: t("overview.p50"), color: "accent" },
  { label: t("overview.upToP90"), color: "rest" },
];

/** The columns of the table beside that bar: both times. */
export const timeColumns = (t: T): string[] => [t("overview.p50"), t("overview.p90")];
export function timeCells({ firstReplyMs: { p50, p90 } }: Counts, { duration }: Texts): string[] {
  return [p50, p90].map((ms) => (ms === null ? "–" : duration(ms)));
}

type Unit = Stats["series"]["unit"];

const HEADS = { hour: "overview.hour", day: "overview.day", week: "overview.week" } as const;

/** Formats the time of a point, in full and briefly. */
const NAMES = {
  hour: ({ dateTime }, at) => dateTime(at),
  day: ({ day }, at) => day(at),
  week: ({ day, t }, at) => t("overview.weekOf", { day: day(at) }),
} as const satisfies Record<Unit, (texts: Texts, at: string) => string>;
const TICKS = {
  hour: ({ day, timeOfDay }, at) => `${day(at)}, ${timeOfDay(at)}`,
  day: ({ day }, at) => day(at),
  week: ({ day }, at) => day(at),
} as const satisfies Record<Unit, (texts: Texts, at: string) => string>;

/** Incoming messages and their outcomes over time, and times to the first reply. */
export function TimeSection({ series: { points, unit } }: { series: Stats["series"] }) {
  const texts = useTexts();
  const { duration, t } = texts;
  const head = t(HEADS[unit]);
  const named = points.map((point) => ({
    point,
    id: point.at,
    label: NAMES[unit](texts, point.at),
    tick: TICKS[unit](texts, point.at),
  }));
  const hasTimes = points.some(({ firstReplyMs }) => firstReplyMs.p50 !== null);
  return (
    <div className={`grid gap-4 ${hasTimes ? "xl:grid-cols-2" : ""}`}>
      <Section title={t("overview.volume")}>
        <TimePlot
          title={t("overview.volume")}
          head={head}
          hint={t("overview.readHint")}
          parts={outcomeParts(t)}
          columns={countColumns(t)}
          write={(value) => t("overview.count", { n: value })}
          points={named.map(({ point, ...name }) => ({
            ...name,
            values: outcomesOf(point),
            cells: countCells(point, texts),
          }))}
        />
      </Section>
      {hasTimes && (
        <Section title={t("overview.times")}>
          <TimePlot
            title={t("overview.times")}
            head={head}
            hint={t("overview.readHint")}
            parts={timeParts(t)}
            columns={timeColumns(t)}
            write={duration}
            points={named.map(({ point, ...name }) => {
              const { p50, p90 } = point.firstReplyMs;
              return {
                ...name,
                values: [p50 ?? 0, Math.max(0, (p90 ?? 0) - (p50 ?? 0))],
                cells: timeCells(point, texts),
              };
            })}
          />
        </Section>
      )}
    </div>
  );
}
