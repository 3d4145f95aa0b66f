import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { ReportTable as TableName } from "@svc/contracts";
import { describeError } from "../ui/describe-error.ts";
import { useTexts } from "../i18n/texts.ts";
import { queryWithZoneOf } from "../overview/overview-search.ts";
import type { OverviewSearch } from "../overview/overview-search.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Section } from "../ui/page-frame.tsx";
import { saveFile } from "../ui/files.ts";
import type { Column } from "./columns.ts";

/** Downloads a table as CSV. */
export function CsvButton({ table, title, search }: { table: TableName; title: string; search: OverviewSearch }) {
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
export interface TableRow<Row> {
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
export function ReportTable<Row>({
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
