import { useTexts } from "../i18n/use-texts.ts";

const FILLS = { accent: "fill-accent", warn: "fill-warn", rest: "fill-edge/45" } as const;
const DOTS = { accent: "bg-accent", warn: "bg-warn", rest: "bg-edge/45" } as const;

/** What a bar is made of. */
export interface BarPart {
  label: string;
  look: keyof typeof FILLS;
}

/** A bar: as many values as there are parts. */
export interface BarRow {
  id: string;
  label: string;
  values: readonly number[];
  /** What stands at its end. */
  total: string;
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

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
  rows,
  write,
}: {
  title: string;
  /** What the rows are. */
  head: string;
  parts: readonly BarPart[];
  rows: readonly BarRow[];
  write: (value: number) => string;
}) {
  const { t } = useTexts();
  const max = Math.max(0, ...rows.map(({ values }) => sumOf(values)));
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
      <ul className="flex flex-col gap-2.5">
        {rows.map(({ id, label, total, values }) => (
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
              label={`${label}: ${parts.map((part, index) => `${part.label} ${write(values[index] ?? 0)}`).join(", ")}`}
            />
          </li>
        ))}
      </ul>
      <details className="mt-3 text-sm">
        <summary className="w-fit rounded-sm text-xs font-medium text-muted hover:text-ink">
          {t("overview.table")}
        </summary>
        <div className="mt-2 overflow-x-auto" tabIndex={0} role="region" aria-label={title}>
          <table className="w-full text-xs">
            <caption className="sr-only">{title}</caption>
            <thead className="text-left text-muted">
              <tr>
                <th scope="col" className="py-1 pr-3 font-medium">
                  {head}
                </th>
                {parts.map(({ label }) => (
                  <th key={label} scope="col" className="py-1 pl-3 text-right font-medium">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map(({ id, label, values }) => (
                <tr key={id}>
                  <th scope="row" className="py-1 pr-3 text-left font-normal wrap-anywhere" dir="auto">
                    {label}
                  </th>
                  {parts.map((part, index) => (
                    <td key={part.label} className="py-1 pl-3 text-right tabular-nums">
                      {write(values[index] ?? 0)}
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
