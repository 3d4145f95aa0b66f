import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ChartColumn } from "lucide-react";
import type { Stats } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import { EmptyState, ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { AnswersSection } from "./answers-section.tsx";
import { statsQuery } from "./overview-search.ts";
import type { OverviewSearch } from "./overview-search.ts";
import { BarPlot } from "./plots.tsx";
import {
  countCells,
  countColumns,
  outcomeParts,
  outcomesOf,
  QueueSection,
  timeCells,
  timeColumns,
  timeParts,
  TimeSection,
} from "./time-section.tsx";
import type { Counts } from "./time-section.tsx";
import { SpanBar, Tile } from "./span-bar.tsx";

/** Same threshold as in the log, `svc doctor` and the alert. */
const STORAGE_WARNING_SHARE = 0.8;

type Row = Counts & { id: string; label: string };

function Tiles({ stats }: { stats: Stats }) {
  const { t, number, percent, duration } = useTexts();
  const { approvals, automatic, edits, firstReplyMs, handoffs, messages } = stats;
  const drafts = approvals + edits;
  const shareOf = (count: number) => (messages === 0 ? "" : t("overview.share", { share: percent(count / messages) }));
  const time = (ms: number | null) => (ms === null ? "–" : duration(ms));
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
      <Tile label={t("overview.messages")} value={number(messages)} text={t("overview.messagesText")} />
      <Tile label={t("overview.automatic")} value={number(automatic)} text={shareOf(automatic)} />
      <Tile label={t("overview.handoffs")} value={number(handoffs)} text={shareOf(handoffs)} />
      <Tile
        label={t("overview.editRate")}
        value={drafts === 0 ? "–" : percent(edits / drafts)}
        text={t("overview.editRateText", { n: drafts, edits: number(edits) })}
      />
      <Tile label={t("overview.p50")} value={time(firstReplyMs.p50)} text={t("overview.p50Text")} />
      <Tile
        label={t("overview.p90")}
        value={time(firstReplyMs.p90)}
        text={t("overview.p90Text", { share: percent(0.9) })}
      />
    </dl>
  );
}

/** Outcomes of messages and times to the first reply, by row. */
function Plots({ title, head, rows }: { title: string; head: string; rows: readonly Row[] }) {
  const texts = useTexts();
  const { duration, t } = texts;
  const timed = rows.flatMap((row) => {
    const { p50, p90 } = row.firstReplyMs;
    return p50 === null || p90 === null
      ? []
      : [
          {
            id: row.id,
            label: row.label,
            values: [p50, Math.max(0, p90 - p50)],
            cells: timeCells(row, texts),
            total: `${duration(p50)} / ${duration(p90)}`,
          },
        ];
  });
  return (
    <Section title={title}>
      <div className="flex flex-col gap-6">
        <BarPlot
          title={t("overview.outcomes", { title })}
          head={head}
          parts={outcomeParts(t)}
          columns={countColumns(t)}
          rows={rows.map((row) => ({
            id: row.id,
            label: row.label,
            values: outcomesOf(row),
            cells: countCells(row, texts),
            total: `${t("overview.count", { n: row.messages })} · ${t("overview.editCount", { n: row.edits })}`,
          }))}
        />
        {timed.length > 0 && (
          <div>
            <h3 className="mb-2 text-sm font-medium">{t("overview.times")}</h3>
            <BarPlot
              title={t("overview.timesOf", { title })}
              head={head}
              parts={timeParts(t)}
              columns={timeColumns(t)}
              rows={timed}
            />
          </div>
        )}
      </div>
    </Section>
  );
}

function Questions({ stats }: { stats: Stats }) {
  const { t } = useTexts();
  const project = useProject();
  return (
    <Section
      title={t("overview.unanswered")}
      text={t("overview.unansweredText")}
      actions={
        <Link
          to="/$project/knowledge/gaps"
          params={{ project }}
          className="rounded-sm text-sm font-medium text-accent hover:underline"
        >
          {t("overview.allGaps")}
        </Link>
      }
    >
      {stats.topUnanswered.length === 0 ? (
        <p className="text-sm text-muted">{t("overview.noneUnanswered")}</p>
      ) : (
        <ol className="divide-y divide-line">
          {stats.topUnanswered.map(({ count, lastAt, question }) => (
            <li key={question} className="flex items-baseline justify-between gap-4 py-2 text-sm">
              <span className="line-clamp-2 min-w-0 wrap-anywhere" dir="auto">
                {question}
              </span>
              <span className="shrink-0 text-xs text-muted">
                {t("gap.asked", { n: count })} · <Ago time={lastAt} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Figures({ stats, search }: { stats: Stats; search: OverviewSearch }) {
  const { t } = useTexts();
  const channels = stats.byChannel.map((row) => ({
    ...row,
    id: row.channelId,
    label: t(`channel.${row.channelId}`),
  }));
  const agents = stats.byAgent.map((row) => ({
    ...row,
    id: row.agentId ?? "",
    label: row.name ?? t(row.agentId === null ? "overview.noAgent" : "overview.deletedAgent"),
  }));
  return (
    <div className="flex flex-col gap-4">
      <Tiles stats={stats} />
      <TimeSection series={stats.series} />
      <AnswersSection search={search} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {channels.length > 0 && <Plots title={t("overview.byChannel")} head={t("overview.channel")} rows={channels} />}
        {agents.length > 0 && <Plots title={t("overview.byAgent")} head={t("overview.agent")} rows={agents} />}
      </div>
      <Questions stats={stats} />
    </div>
  );
}

/** Warns while the project uses more than 80 % of a storage limit, and when a limit is reached. */
function StorageNotice({ storage: { usedShare } }: { storage: Stats["storage"] }) {
  const { percent, t } = useTexts();
  if (usedShare < STORAGE_WARNING_SHARE) return null;
  const isFull = usedShare >= 1;
  return (
    <Notice variant={isFull ? "bad" : "warn"}>
      {t(isFull ? "overview.storageFull" : "overview.storageFills", { share: percent(usedShare) })}
    </Notice>
  );
}

const OVERDUE = { overdue: "1" } as const;

/** Number of tickets that are overdue by the SLA targets, with a link to them; nothing if there are none. */
function OverdueNotice() {
  const { number, t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const counted = useQuery({
    queryKey: ["count", project, OVERDUE],
    queryFn: async ({ signal }) =>
      (await connection.call("countTickets", project, { query: OVERDUE, signal })).item.count,
  });
  if (counted.data === undefined || counted.data === 0) return null;
  return (
    <Notice variant="bad">
      <Link
        to="/$project/inbox/$view"
        params={{ project, view: "all" }}
        search={{ ...OVERDUE, sort: "dueAt" }}
        className="font-medium underline"
      >
        {t("overview.overdue", { n: counted.data, count: number(counted.data) })}
      </Link>
    </Notice>
  );
}

/** Shows negative ratings and SLA breaches of the time range, with a link to the report; nothing if there are none. */
function SignalsNotice({ stats: { ratings, breaches }, search }: { stats: Stats; search: OverviewSearch }) {
  const { number, t } = useTexts();
  const project = useProject();
  const late = breaches.firstReply + breaches.nextReply + breaches.resolution;
  const texts = [
    ...(ratings.bad === 0 ? [] : [t("overview.badRatings", { n: ratings.bad, all: number(ratings.count) })]),
    ...(late === 0 ? [] : [t("overview.breaches", { n: late })]),
  ];
  if (texts.length === 0) return null;
  return (
    <Notice variant="warn">
      <Link to="/$project/overview/reports" params={{ project }} search={search} className="font-medium underline">
        {texts.join(" · ")}
      </Link>
    </Notice>
  );
}

function FiguresSkeleton() {
  return (
    <>
      <div className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
        {[0, 1, 2, 3, 4, 5].map((position) => (
          <Skeleton key={position} className="h-24 w-full rounded-xl" />
        ))}
      </div>
      <Skeleton className="h-80 w-full rounded-xl" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-72 w-full rounded-xl" />
        <Skeleton className="h-72 w-full rounded-xl" />
      </div>
    </>
  );
}

/** The overview: incoming messages, outcomes and times in a period, and the waiting work. */
export function OverviewPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const search = useSearch({ from: "/$project/overview" });
  const stats = useQuery(statsQuery(connection, project, search));
  const isEmpty = stats.data?.messages === 0 && stats.data.topUnanswered.length === 0;
  return (
    <PageFrame
      title={t("nav.overview")}
      text={t("overview.text")}
      actions={
        <Link
          to="/$project/overview/reports"
          params={{ project }}
          search={search}
          className="rounded-sm text-sm font-medium text-accent hover:underline"
        >
          {t("report.title")}
        </Link>
      }
    >
      <SpanBar search={search} />
      <div aria-busy={stats.isFetching} className="flex flex-col gap-4">
        {stats.isError && <ErrorNotice error={stats.error} onRetry={() => void stats.refetch()} />}
        <OverdueNotice />
        {stats.data !== undefined && <SignalsNotice stats={stats.data} search={search} />}
        {stats.data !== undefined && <StorageNotice storage={stats.data.storage} />}
        {stats.isPending && <FiguresSkeleton />}
        {isEmpty && <EmptyState icon={ChartColumn} title={t("overview.none")} text={t("overview.noneText")} />}
        {stats.data !== undefined && !isEmpty && <Figures stats={stats.data} search={search} />}
        <QueueSection />
      </div>
    </PageFrame>
  );
}
