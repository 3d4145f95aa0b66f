import { useQuery } from "@tanstack/react-query";
import { Link, linkOptions, useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { Report, ReportGroup, ReportTable as TableName } from "@svc/contracts";
import { textOf, useTexts } from "../i18n/texts.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { queryWithZoneOf } from "../overview/overview-search.ts";
import type { OverviewSearch } from "../overview/overview-search.ts";
import { SpanBar, Tile } from "../overview/span-bar.tsx";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { saveFile } from "../ui/files.ts";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { BACKLOG_COLUMNS, describeTrend, DRAFT_COLUMNS, TABLE_COLUMNS, TILES } from "./columns.ts";
import type { Column } from "./columns.ts";

/** Downloads a table as CSV. */
function CsvButton({ table, title, search }: { table: TableName; title: string; search: OverviewSearch }) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const query = new URLSearchParams({ ...queryWithZoneOf(search), table });
  return (
    <Button
      variant="quiet"
      size="small"
      icon={Download}
      aria-label={t("report.download", { title })}
      onClick={() =>
        void connection.fetchFile(`/api/v1/admin/stats/report/csv?${query}`, project).then(
          (bytes) => saveFile(bytes, `${table}-${project}.csv`),
          (error: unknown) => toasts.show({ kind: "error", text: describeError(error, t) }),
        )
      }
    >
      CSV
    </Button>
  );
}

/** A row of a table, with the values of the previous period if there are any. */
interface TableRow<Row> {
  id: string;
  label: ReactNode;
  now: Row;
  previous: Row | null;
}

/** A bar from the start of its cell; the number beside it has the same value. */
function Bar({ share }: { share: number }) {
  return (
    <svg aria-hidden viewBox="0 0 100 4" preserveAspectRatio="none" className="mt-1 block h-1 w-full">
      <rect width={100} height={4} className="fill-sunken" />
      <rect width={share * 100} height={4} className="fill-accent" />
    </svg>
  );
}

function Cell<Row>({ column, row, max }: { column: Column<Row>; row: TableRow<Row>; max: number | null }) {
  const texts = useTexts();
  const write = (value: number | null) => (value === null ? "–" : column.write(value, texts));
  const value = column.value(row.now);
  return (
    <td className="py-1.5 pl-4 text-right align-top tabular-nums">
      <span className="whitespace-nowrap">{write(value)}</span>
      {row.previous !== null && (
        <span className="block text-2xs whitespace-nowrap text-muted">
          {texts.t("report.before", { value: write(column.value(row.previous)) })}
        </span>
      )}
      {max !== null && <Bar share={max === 0 || value === null ? 0 : value / max} />}
    </td>
  );
}

/** A table of a report with its title and a button that downloads it; the first column has bars. */
function ReportTable<Row>({
  table,
  title,
  text,
  head,
  columns,
  rows,
  search,
}: {
  table: TableName;
  title: string;
  text?: string;
  /** Heading of the rows. */
  head: string;
  columns: readonly Column<Row>[];
  rows: readonly TableRow<Row>[];
  search: OverviewSearch;
}) {
  const { t } = useTexts();
  const max = Math.max(0, ...rows.map(({ now }) => columns[0]?.value(now) ?? 0));
  return (
    <Section title={title} text={text} actions={<CsvButton table={table} title={title} search={search} />}>
      {rows.length === 0 ? (
        <p className="text-sm text-muted">{t("report.empty")}</p>
      ) : (
        <div className="max-h-96 overflow-auto" tabIndex={0} role="region" aria-label={title}>
          <table className="w-full text-sm">
            <caption className="sr-only">{title}</caption>
            <thead className="text-xs text-muted">
              <tr className="align-bottom">
                <th scope="col" className="pb-1 text-left font-medium">
                  {head}
                </th>
                {columns.map(({ label }) => (
                  <th key={label} scope="col" className="pb-1 pl-4 text-right font-medium">
                    {t(label)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map((row) => (
                <tr key={row.id}>
                  <th scope="row" className="py-1.5 pr-2 text-left align-top font-normal wrap-anywhere" dir="auto">
                    {row.label}
                  </th>
                  {columns.map((column, index) => (
                    <Cell key={column.label} column={column} row={row} max={index === 0 ? max : null} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

/** The totals, each with its trend and the previous period. */
function Tiles({ total, isBusinessTime }: Report) {
  const texts = useTexts();
  const { t } = texts;
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-5">
      {TILES.map(({ label, value, write, isTime }) => {
        const [now, before] = [value(total), value(total.previous)];
        const say = (figure: number | null) => (figure === null ? "–" : write(figure, texts));
        const trend = describeTrend(now, before, texts.percent);
        const previous = t("report.before", { value: say(before) });
        return (
          <Tile
            key={label}
            label={t(label)}
            value={say(now)}
            text={[trend, previous, isTime && t(isBusinessTime ? "report.inHours" : "report.atAllTimes")]
              .filter(Boolean)
              .join(" · ")}
          />
        );
      })}
    </dl>
  );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Monday. */
const MONDAY_MS = Date.UTC(2024, 0, 1);

const TIME_FORMATS = {
  hour: { weekday: "short", hour: "numeric", minute: "2-digit" },
  day: { weekday: "short", day: "numeric", month: "short" },
  week: { day: "numeric", month: "short" },
} as const satisfies Record<Report["unit"], Intl.DateTimeFormatOptions>;

/** Formats the keys of rows: times, hours, weekdays and channels. Operators and agents have names. */
function writeKeys({ unit, timeZone }: Report, { language, t }: Texts) {
  const time = new Intl.DateTimeFormat(language, { ...TIME_FORMATS[unit], timeZone });
  const hour = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", timeZone: "UTC" });
  const weekday = new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" });
  const writeTime = (key: string) => time.format(new Date(key));
  return {
    time: (key) => (unit === "week" ? t("overview.weekOf", { day: writeTime(key) }) : writeTime(key)),
    hours: (key) => hour.format(new Date(MONDAY_MS + Number(key) * HOUR_MS)),
    weekdays: (key) => weekday.format(new Date(MONDAY_MS + (Number(key) - 1) * DAY_MS)),
    channels: (key) => textOf(t, "channel", key),
    agents: (key) => t(key === "" ? "overview.noAgent" : "overview.deletedAgent"),
    operators: (key) => key,
  } as const satisfies Record<ReportGroup, (key: string) => string>;
}

const GROUPS = [
  { group: "time", head: "report.time", columns: TABLE_COLUMNS.volume },
  { group: "weekdays", head: "report.weekday", columns: TABLE_COLUMNS.volume },
  { group: "hours", head: "overview.hour", columns: TABLE_COLUMNS.volume },
  { group: "channels", head: "overview.channel", columns: TABLE_COLUMNS.channels },
  { group: "agents", head: "overview.agent", columns: TABLE_COLUMNS.channels },
  { group: "operators", head: "report.person", columns: TABLE_COLUMNS.operators },
] as const satisfies { group: ReportGroup; head: TextKey; columns: readonly unknown[] }[];

function Tables({ report, search }: { report: Report; search: OverviewSearch }) {
  const texts = useTexts();
  const { t } = texts;
  const write = writeKeys(report, texts);
  const rowsOf = (group: ReportGroup) =>
    report[group].map((row) => ({
      id: row.key ?? "",
      label: row.name ?? write[group](row.key ?? ""),
      now: row,
      previous: row.previous,
    }));
  return GROUPS.map(({ group, head, columns }) => (
    <ReportTable
      key={group}
      table={group}
      title={t(`report.by.${group}`)}
      head={t(head)}
      columns={columns}
      rows={rowsOf(group)}
      search={search}
    />
  ));
}

const toneOf = (score: number): Tone => (score <= 2 ? "bad" : score >= 4 ? "ok" : "plain");

/** Ratings with comments, each with a link to its conversation. */
function Comments({ report, search }: { report: Report; search: OverviewSearch }) {
  const { t } = useTexts();
  const project = useProject();
  const title = t("report.comments");
  return (
    <Section title={title} actions={<CsvButton table="ratings" title={title} search={search} />}>
      {report.comments.length === 0 ? (
        <p className="text-sm text-muted">{t("report.noComments")}</p>
      ) : (
        <div className="max-h-96 overflow-auto" tabIndex={0} role="region" aria-label={title}>
          <ul className="divide-y divide-line">
            {report.comments.map(({ ticketId, at, score, comment, channelId, agentName, operatorName }) => (
              <li key={ticketId} className="py-2 text-sm">
                <div className="flex flex-wrap items-center justify-between gap-x-4 text-xs text-muted">
                  <span className="flex min-w-0 items-center gap-2">
                    <Badge tone={toneOf(score)}>{t("report.score", { score })}</Badge>
                    <span className="truncate" dir="auto">
                      {[
                        textOf(t, "channel", channelId),
                        ...[operatorName ?? agentName].flatMap((name) => name ?? []),
                      ].join(" · ")}
                    </span>
                  </span>
                  <Link
                    to="/$project/inbox/$view/$ticketId"
                    params={{ project, view: "all", ticketId }}
                    className="rounded-sm text-accent hover:underline"
                  >
                    <Ago time={at} />
                  </Link>
                </div>
                <p className="mt-1 wrap-anywhere whitespace-pre-line" dir="auto">
                  {comment}
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}

/** Tickets that wait for an operator, and outcomes of drafts. */
function BacklogAndDrafts({ report, search }: { report: Report; search: OverviewSearch }) {
  const { t } = useTexts();
  return (
    <>
      <ReportTable
        table="backlog"
        title={t("report.backlog")}
        text={t("report.backlogText")}
        head={t("report.age")}
        columns={BACKLOG_COLUMNS}
        rows={report.backlog.map((row, index) => ({
          id: String(row.upToHours),
          label:
            row.upToHours === null
              ? t("report.longer", { hours: report.backlog[index - 1]?.upToHours ?? 0 })
              : index === 0
                ? t("report.upTo", { hours: row.upToHours })
                : t("report.between", { from: report.backlog[index - 1]?.upToHours ?? 0, to: row.upToHours }),
          now: row,
          previous: null,
        }))}
        search={search}
      />
      <ReportTable
        table="drafts"
        title={t("answers.title")}
        head={t("overview.agent")}
        columns={DRAFT_COLUMNS}
        rows={report.drafts.map((row) => ({
          id: row.key,
          label: row.name ?? t("overview.deletedAgent"),
          now: row,
          previous: row.previous,
        }))}
        search={search}
      />
    </>
  );
}

function Figures({ report, search }: { report: Report; search: OverviewSearch }) {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  return (
    <>
      <Tiles {...report} />
      <p className="text-xs text-muted">
        {t(report.isBusinessTime ? "report.businessTime" : "report.allTime", { timeZone: report.timeZone })}{" "}
        {mayDo("admin:*") && (
          <Link
            to="/$project/administration/$section"
            params={{ project, section: "projects" }}
            className="rounded-sm font-medium text-accent hover:underline"
          >
            {t("projects.hours")}
          </Link>
        )}
      </p>
      <Comments report={report} search={search} />
      <BacklogAndDrafts report={report} search={search} />
      <Tables report={report} search={search} />
    </>
  );
}

/** Report of a period and the previous one: satisfaction, times, volume, operators and SLA breaches. */
export function ReportsPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const search = useSearch({ from: "/$project/overview/reports" });
  const report = useQuery({
    queryKey: ["report", project, search],
    placeholderData: (known: Report | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: ({ signal }): Promise<Report> =>
      connection.call("getReport", project, { query: queryWithZoneOf(search), signal }),
  });
  return (
    <PageFrame
      title={t("report.title")}
      text={t("report.text")}
      back={{
        link: linkOptions({ to: "/$project/overview", params: { project }, search }),
        label: t("nav.overview"),
      }}
      actions={<CsvButton table="total" title={t("report.title")} search={search} />}
    >
      <SpanBar search={search} />
      <div aria-busy={report.isFetching} className="flex flex-col gap-4">
        {report.isError && <ErrorNotice error={report.error} onRetry={() => void report.refetch()} />}
        {report.isPending && <Skeleton className="h-96 w-full rounded-xl" />}
        {report.data !== undefined && <Figures report={report.data} search={search} />}
      </div>
    </PageFrame>
  );
}
