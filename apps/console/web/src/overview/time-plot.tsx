import { useState } from "react";
import { PLOT_HEIGHT, PlotFrame, StackedBar, sumOf } from "./plot-frame.tsx";
import type { BarPart } from "./plot-frame.tsx";

/** What happened in one hour, day or week: as many values as there are parts. */
export interface TimePoint {
  id: string;
  /** When it was, in words. */
  label: string;
  /** The same as briefly as it can be said, for the axis. */
  tick: string;
  values: readonly number[];
  cells: readonly string[];
}

/**
 * Bars beside each other over time. One of them is read at a time: the one that is pointed at, or, as a slider, that the
 * arrow keys have come to. The same figures stand in a table that can be opened.
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
  /** What the points are. */
  head: string;
  parts: readonly BarPart[];
  columns?: readonly string[];
  points: readonly TimePoint[];
  /** A height of the plot in words. */
  write: (value: number) => string;
  /** What stands where nothing is read yet. */
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
        <input
          type="range"
          min={0}
          max={Math.max(0, last)}
          value={chosen ?? last}
          aria-label={title}
          aria-valuetext={say(points[Math.min(chosen ?? last, last)])}
          onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
          onFocus={() => setChosen((now) => now ?? last)}
          onPointerMove={({ clientX, currentTarget }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            const at = Math.floor(((clientX - left) / Math.max(1, width)) * points.length);
            setChosen(Math.min(Math.max(at, 0), last));
          }}
          onPointerLeave={() => setChosen(null)}
          onBlur={() => setChosen(null)}
          className="absolute inset-0 m-0 size-full cursor-crosshair opacity-0"
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
