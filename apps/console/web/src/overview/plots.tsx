import { useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";

/** Classes of the parts of a bar. */
const FILLS = {
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

/** A part of a bar. */
export interface BarPart {
  label: string;
  color: keyof typeof FILLS;
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
  return parts.map(({ label, color }, index) => {
    const top = sumOf(values.slice(0, index + 1)) * scale;
    return (
      <rect
        key={label}
        x={at + GAP / 2}
        width={1 - GAP}
        y={PLOT_HEIGHT - top}
        height={(values[index] ?? 0) * scale}
        className={FILLS[color]}
      />
    );
  });
}

/** The data of a plot as a collapsible table. */
function PlotTable({
  title,
  head,
  columns,
  rows,
}: {
  title: string;
  head: string;
  columns: readonly string[];
  rows: readonly PlotRow[];
}) {
  const { t } = useTexts();
  return (
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
  );
}

/** A plot with its legend and its table. */
function PlotFrame({
  title,
  head,
  parts,
  columns = parts.map(({ label }) => label),
  rows,
  children,
}: {
  title: string;
  /** Heading of the rows. */
  head: string;
  parts: readonly BarPart[];
  /** Headings of the table's columns; by default those of the parts. */
  columns?: readonly string[];
  rows: readonly PlotRow[];
  children: ReactNode;
}) {
  return (
    <figure aria-label={title}>
      <ul aria-hidden className="mb-3 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {parts.map(({ label, color }) => (
          <li key={label} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${DOTS[color]}`} />
            {label}
          </li>
        ))}
      </ul>
      {children}
      <PlotTable title={title} head={head} columns={columns} rows={rows} />
    </figure>
  );
}

/** A bar with one value for each part. */
export interface BarRow {
  id: string;
  label: string;
  values: readonly number[];
  /** The cells of its table row, one for each column. */
  cells: readonly string[];
  /** Text at the end of the bar. */
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
      {parts.map(({ label: name, color }, index) => (
        <rect
          key={name}
          x={sumOf(values.slice(0, index)) * scale}
          width={(values[index] ?? 0) * scale}
          height={10}
          className={FILLS[color]}
        />
      ))}
    </svg>
  );
}

/** Horizontal bars on one scale. The same data is in a collapsible table. */
export function BarPlot({
  title,
  head,
  parts,
  columns = parts.map(({ label }) => label),
  rows,
}: {
  title: string;
  /** Heading of the rows. */
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

/** Values of one hour, day or week, one for each part. */
export interface TimePoint {
  id: string;
  /** Time of the point. */
  label: string;
  /** Short form of the time, for the axis. */
  tick: string;
  values: readonly number[];
  cells: readonly string[];
}

/** An invisible slider over a plot, which selects a point by pointer or arrow keys. */
function PointSlider({
  label,
  last,
  chosen,
  text,
  onChoose,
}: {
  label: string;
  /** Index of the last point. */
  last: number;
  chosen: number | null;
  /** Description of the selected point. */
  text: string;
  onChoose: (index: number | null) => void;
}) {
  return (
    <input
      type="range"
      min={0}
      max={Math.max(0, last)}
      value={chosen ?? last}
      aria-label={label}
      aria-valuetext={text}
      onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
      onFocus={() => onChoose(chosen ?? last)}
      onPointerMove={({ clientX, currentTarget }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        const at = Math.floor(((clientX - left) / Math.max(1, width)) * (last + 1));
        onChoose(Math.min(Math.max(at, 0), last));
      }}
      onPointerLeave={() => onChoose(null)}
      onBlur={() => onChoose(null)}
      className="absolute inset-0 m-0 size-full cursor-crosshair opacity-0"
    />
  );
}

/** The bars of a plot over time, with the selected one highlighted. */
function TimeBars({
  points,
  parts,
  scale,
  chosen,
}: {
  points: readonly TimePoint[];
  parts: readonly BarPart[];
  scale: number;
  chosen: number | null;
}) {
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${points.length} ${PLOT_HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-40 w-full border-y border-line"
    >
      {points.map(({ id, values }, at) => (
        <g key={id}>
          {at === chosen && <rect x={at} width={1} height={PLOT_HEIGHT} className="fill-hover" />}
          <StackedBar at={at} parts={parts} values={values} scale={scale} />
        </g>
      ))}
    </svg>
  );
}

/**
 * Vertical bars over time. The values of one bar are shown: of the hovered one, or of the one selected with the arrow
 * keys. The same data is in a collapsible table.
 */
export function TimePlot({
  title,
  head,
  parts,
  columns = parts.map(({ label }) => label),
  points,
  write,
  hint,
}: {
  title: string;
  /** Heading of the points. */
  head: string;
  parts: readonly BarPart[];
  columns?: readonly string[];
  points: readonly TimePoint[];
  /** Formats a value of the axis. */
  write: (value: number) => string;
  /** Text while no bar is selected. */
  hint: string;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  const max = Math.max(0, ...points.map(({ values }) => sumOf(values)));
  const scale = max === 0 ? 0 : PLOT_HEIGHT / max;
  const last = points.length - 1;
  const read = chosen === null ? undefined : points[Math.min(chosen, last)];
  const say = (point: TimePoint | undefined) => {
    if (point === undefined) return "";
    const { cells, label } = point;
    return `${label}: ${columns.map((column, index) => `${column} ${cells[index] ?? ""}`).join(", ")}`;
  };
  const ticks = points.length > 2 ? [0, Math.floor(last / 2), last] : points.map((_, index) => index);
  return (
    <PlotFrame title={title} head={head} parts={parts} columns={columns} rows={points}>
      <p aria-hidden className="min-h-5 text-xs text-muted tabular-nums" dir="auto">
        {read === undefined ? hint : say(read)}
      </p>
      <p aria-hidden className="mt-1 text-2xs text-faint tabular-nums">
        {write(max)}
      </p>
      <div className="relative rounded-sm has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
        <TimeBars points={points} parts={parts} scale={scale} chosen={chosen} />
        <PointSlider
          label={title}
          last={last}
          chosen={chosen}
          text={say(points[Math.min(chosen ?? last, last)])}
          onChoose={setChosen}
        />
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-2xs text-faint tabular-nums">
        {ticks.map((at) => (
          <span key={at}>{points[at]?.tick}</span>
        ))}
      </div>
    </PlotFrame>
  );
}
