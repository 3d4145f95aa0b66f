import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { QueueHealth, Stats } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Ago, Badge, useNow } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { queuesQuery } from "./overview-search.ts";
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

/** State of a queue: good, with a delay, or with failed items that need attention. */
type QueueState = "good" | "slow" | "failed";

/** Due items that wait longer than this count as delayed. */
const SLOW_MS = 60_000;

/** Returns the state of a queue at this time. Failures take precedence over delays. */
function stateOfQueue({ failed, oldestDueAt }: QueueHealth, nowMs: number): QueueState {
  if (failed > 0) return "failed";
  return oldestDueAt !== null && nowMs - Date.parse(oldestDueAt) > SLOW_MS ? "slow" : "good";
}

const STATES = {
  good: { tone: "ok", text: "queue.good" },
  slow: { tone: "warn", text: "queue.slow" },
  failed: { tone: "bad", text: "queue.hasFailed" },
} as const satisfies Record<QueueState, { tone: Tone; text: TextKey }>;
/** Copied from QUEUE_COUNT_MAX of the contracts: this many and more. */
const COUNT_MAX = 10_000;

function Row({ health, nowMs }: { health: QueueHealth; nowMs: number }) {
  const { number, t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const { failed, oldestDueAt, queue, waiting } = health;
  const { text, tone } = STATES[stateOfQueue(health, nowMs)];
  const count = (value: number) => (value >= COUNT_MAX ? t("queue.atLeast", { count: number(value) }) : number(value));
  const failures = <span className="tabular-nums">{count(failed)}</span>;
  const link = "rounded-sm font-medium text-accent hover:underline";
  return (
    <tr>
      <th scope="row" className="py-2 pr-3 text-left font-medium">
        {t(`queue.${queue}`)}
      </th>
      <td className="py-2 pr-3">
        <Badge tone={tone}>{t(text)}</Badge>
      </td>
      <td className="py-2 pl-3 text-right tabular-nums">{count(waiting)}</td>
      <td className="py-2 pl-3 text-right text-muted">{oldestDueAt === null ? "–" : <Ago time={oldestDueAt} />}</td>
      <td className="py-2 pl-3 text-right">
        {failed > 0 && queue === "messages" ? (
          <Link
            to="/$project/inbox/$view"
            params={{ project, view: "all" }}
            search={{ stage: "failed" }}
            className={link}
          >
            {failures}
          </Link>
        ) : failed > 0 && queue === "callbacks" && mayDo("webhooks:read") ? (
          <Link to="/$project/administration/$section" params={{ project, section: "deliveries" }} className={link}>
            {failures}
          </Link>
        ) : failed > 0 && queue === "documents" ? (
          <Link to="/$project/knowledge" params={{ project }} className={link}>
            {failures}
          </Link>
        ) : (
          failures
        )}
      </td>
    </tr>
  );
}

/** Waiting items of the queues, with their ages, and failed ones. */
export function QueueSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const nowMs = useNow();
  const queues = useQuery(queuesQuery(connection, project));
  const heads = ["queue.name", "queue.state", "queue.waiting", "queue.oldest", "queue.failed"] as const;
  return (
    <Section title={t("queue.title")} text={t("queue.text")}>
      {queues.isError && <ErrorNotice error={queues.error} onRetry={() => void queues.refetch()} />}
      {queues.isPending && <Skeleton className="h-40 w-full" />}
      {queues.data !== undefined && (
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("queue.title")}>
          <table className="w-full text-sm">
            <caption className="sr-only">{t("queue.title")}</caption>
            <thead className="text-xs text-muted">
              <tr>
                {heads.map((head, index) => (
                  <th
                    key={head}
                    scope="col"
                    className={`pb-1 font-medium ${index < 2 ? "pr-3 text-left" : "pl-3 text-right"}`}
                  >
                    {t(head)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {queues.data.map((health) => (
                <Row key={health.queue} health={health} nowMs={nowMs} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
