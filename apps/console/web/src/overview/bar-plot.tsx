import { FILLS, PlotFrame, sumOf } from "./plot-frame.tsx";
import type { BarPart } from "./plot-frame.tsx";

/** A bar: as many values as there are parts. */
export interface BarRow {
  id: string;
  label: string;
  values: readonly number[];
  /** What the table says of it: as many as it has columns. */
  cells: readonly string[];
  /** What stands at its end. */
  total: string;
}

function Bar({
  values,
  parts,
  max,
  label,
}: {
  values: readonly number[];
  parts: readonly BarPart[];
  max: number;
  label: string;
}) {
  const scale = max === 0 ? 0 : 100 / max;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      className="h-3 w-full overflow-hidden rounded-sm bg-sunken"
    >
      <title>{label}</title>
      {parts.map(({ label: name, look }, index) => (
        <rect
          key={name}
          x={sumOf(values.slice(0, index)) * scale}
          width={(values[index] ?? 0) * scale}
          height={10}
          className={FILLS[look]}
        />
      ))}
    </svg>
  );
}

/** Bars under each other, on one scale. The same figures stand in a table that can be opened. */
export function BarPlot({
  title,
  head,
  parts,
  columns = parts.map(({ label }) => label),
  rows,
}: {
  title: string;
  /** What the rows are. */
  head: string;
  parts: readonly BarPart[];
  columns?: readonly string[];
  rows: readonly BarRow[];
}) {
  const max = Math.max(0, ...rows.map(({ values }) => sumOf(values)));
  return (
    <PlotFrame title={title} head={head} parts={parts} columns={columns} rows={rows}>
      <ul className="flex flex-col gap-2.5">
        {rows.map(({ cells, id, label, total, values }) => (
          <li key={id}>
            <div className="mb-1 flex items-baseline justify-between gap-3 text-sm">
              <span className="min-w-0 truncate" dir="auto">
                {label}
              </span>
              <span className="shrink-0 text-xs text-muted tabular-nums">{total}</span>
            </div>
            <Bar
              values={values}
              parts={parts}
              max={max}
              label={`${label}: ${columns.map((column, index) => `${column} ${cells[index] ?? ""}`).join(", ")}`}
            />
          </li>
        ))}
      </ul>
    </PlotFrame>
  );
}
