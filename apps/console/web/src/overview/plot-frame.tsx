import type { ReactNode } from "react";
import { useTexts } from "../i18n/use-texts.ts";

/** Looks of what a bar is made of. */
export const FILLS = {
  accent: "fill-accent",
  ok: "fill-ok",
  warn: "fill-warn",
  bad: "fill-bad",
  strong: "fill-edge",
  rest: "fill-edge/45",
} as const;
const DOTS = {
  accent: "bg-accent",
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  strong: "bg-edge",
  rest: "bg-edge/45",
} as const satisfies Record<keyof typeof FILLS, string>;

/** What a bar is made of. */
export interface BarPart {
  label: string;
  look: keyof typeof FILLS;
}

/** A row of the table beside a plot. */
export interface PlotRow {
  id: string;
  label: string;
  cells: readonly string[];
}

/** Height of a plot of upright bars, in the units of its view box; a bar has a width of one. */
export const PLOT_HEIGHT = 100;
/** Space between two bars, as a fraction of the width of one. */
const GAP = 0.24;

/** Returns the sum of numbers. */
export const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** An upright bar: its values on top of each other, at position `at`. */
export function StackedBar({
  at,
  parts,
  values,
  scale,
}: {
  at: number;
  parts: readonly BarPart[];
  /** One value for each part. */
  values: readonly number[];
  /** Height of a value of one. */
  scale: number;
}) {
  return parts.map(({ label, look }, index) => {
    const top = sumOf(values.slice(0, index + 1)) * scale;
    return (
      <rect
        key={label}
        x={at + GAP / 2}
        width={1 - GAP}
        y={PLOT_HEIGHT - top}
        height={(values[index] ?? 0) * scale}
        className={FILLS[look]}
      />
    );
  });
}

/** A plot with what its colours stand for, and the same figures in a table that can be opened. */
export function PlotFrame({
  title,
  head,
  parts,
  columns = parts.map(({ label }) => label),
  rows,
  children,
}: {
  title: string;
  /** What the rows are. */
  head: string;
  parts: readonly BarPart[];
  /** Heads of the table's columns, where they are others than the parts. */
  columns?: readonly string[];
  rows: readonly PlotRow[];
  children: ReactNode;
}) {
  const { t } = useTexts();
  return (
    <figure aria-label={title}>
      <ul aria-hidden className="mb-3 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {parts.map(({ label, look }) => (
          <li key={label} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${DOTS[look]}`} />
            {label}
          </li>
        ))}
      </ul>
      {children}
      <details className="mt-3 text-sm">
        <summary className="w-fit rounded-sm text-xs font-medium text-muted hover:text-ink">
          {t("overview.table")}
        </summary>
        <div className="mt-2 max-h-96 overflow-auto" tabIndex={0} role="region" aria-label={title}>
          <table className="w-full text-xs">
            <caption className="sr-only">{title}</caption>
            <thead className="text-left text-muted">
              <tr>
                <th scope="col" className="py-1 pr-3 font-medium">
                  {head}
                </th>
                {columns.map((label) => (
                  <th key={label} scope="col" className="py-1 pl-3 text-right font-medium">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map(({ cells, id, label }) => (
                <tr key={id}>
                  <th scope="row" className="py-1 pr-3 text-left font-normal wrap-anywhere" dir="auto">
                    {label}
                  </th>
                  {cells.map((cell, index) => (
                    <td key={columns[index]} className="py-1 pl-3 text-right tabular-nums">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
