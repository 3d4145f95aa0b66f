import type { Stats } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Section } from "../ui/page-frame.tsx";
import { countCells, countColumns, outcomeParts, outcomesOf, timeCells, timeColumns, timeParts } from "./outcomes.ts";
import { TimePlot } from "./time-plot.tsx";

type Unit = Stats["series"]["unit"];

const HEADS = { hour: "overview.hour", day: "overview.day", week: "overview.week" } as const;

/** When a point was, in words and briefly. */
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

/** What came in over time and how it ended, and how long the first reply took. */
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
