import type { ReplayProgress } from "@svc/client";
import type { ReplaySide } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";

const meanOf = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** What a replay has found so far, in figures, before beside after. */
export function ReplaySummary({ replay: { items, usage } }: { replay: ReplayProgress }) {
  const { number, percent, t } = useTexts();
  const countOf = (verdict: "better" | "worse" | "same") => items.filter((item) => item.verdict === verdict).length;
  const both = (of: (side: ReplaySide) => number, write: (values: readonly number[]) => string) =>
    (["before", "after"] as const).map((side) => write(items.map((item) => of(item[side])))).join(" → ");
  const tokens = (["before", "after"] as const)
    .map((side) => number(usage[side].inputTokens + usage[side].outputTokens))
    .join(" → ");
  const facts = [
    { title: t("replay.better"), value: number(countOf("better")) },
    { title: t("replay.worse"), value: number(countOf("worse")) },
    { title: t("replay.same"), value: number(countOf("same")) },
    {
      title: t("replay.sends"),
      value: both(
        ({ sends }) => (sends ? 1 : 0),
        (values) => number(values.filter((value) => value === 1).length),
      ),
    },
    {
      title: t("replay.nearness"),
      value: both(
        ({ tokenF1 }) => tokenF1,
        (values) => percent(meanOf(values)),
      ),
    },
    { title: t("replay.usage"), value: tokens },
  ];
  return (
    <dl aria-label={t("replay.summary")} className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {facts.map(({ title, value }) => (
        <div key={title} className="rounded-lg bg-sunken px-3 py-2">
          <dt className="text-xs text-muted">{title}</dt>
          <dd className="text-sm font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
