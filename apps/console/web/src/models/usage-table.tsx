import { useQuery } from "@tanstack/react-query";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

const CELL = "px-2 py-1.5 text-right tabular-nums";
const STALE_MS = 60_000;

/** What the project's agents asked of language models in the last 30 days, and what that cost. */
export function UsageTable() {
  const { language, number, t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const usage = useQuery({
    queryKey: ["model-usage", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }) => (await connection.call("getStats", project, { query: {}, signal })).models,
  });
  const money = new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumFractionDigits: 4 });
  return (
    <Section title={t("models.usage")} text={t("models.usageText", { project })}>
      {usage.isPending && <Skeleton className="h-16 w-full rounded-lg" />}
      {usage.isError && <FaultNotice fault={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.isSuccess && usage.data.length === 0 && <p className="text-sm text-muted">{t("models.noUsage")}</p>}
      {usage.isSuccess && usage.data.length > 0 && (
        <div role="region" aria-label={t("models.usage")} tabIndex={0} className="overflow-x-auto">
          <table className="w-full text-sm">
            <thead className="text-xs text-muted">
              <tr>
                <th scope="col" className="py-1.5 pr-2 text-left font-medium">
                  {t("models.model")}
                </th>
                {(["models.calls", "models.faults", "models.input", "models.output", "models.cost"] as const).map(
                  (title) => (
                    <th key={title} scope="col" className={`${CELL} font-medium`}>
                      {t(title)}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {usage.data.map(({ calls, costUsd, faults, inputTokens, model, outputTokens }) => (
                <tr key={model}>
                  <th scope="row" className="py-1.5 pr-2 text-left font-mono text-xs font-medium">
                    {model}
                  </th>
                  <td className={CELL}>{number(calls)}</td>
                  <td className={CELL}>{number(faults)}</td>
                  <td className={CELL}>{number(inputTokens)}</td>
                  <td className={CELL}>{number(outputTokens)}</td>
                  <td className={CELL} title={costUsd === null ? t("models.noPrice") : undefined}>
                    {costUsd === null ? "–" : money.format(costUsd)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {usage.data.some(({ costUsd }) => costUsd === null) && (
            <p className="mt-1 text-xs text-muted">{t("models.noPrice")}</p>
          )}
        </div>
      )}
    </Section>
  );
}
