import { useQuery } from "@tanstack/react-query";
import type { AnswerStats } from "@svc/contracts";
import { answerStatsQuery } from "../api/stats.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { outcomeParts, outcomeValues } from "./answer-counts.ts";
import { BarPlot } from "./bar-plot.tsx";
import type { OverviewSearch } from "./overview-search.ts";
import { ThresholdSection } from "./threshold-section.tsx";

function Outcomes({ agents }: AnswerStats) {
  const { t, number, percent } = useTexts();
  return (
    <Section title={t("answers.title")} text={t("answers.text")}>
      {agents.length === 0 ? (
        <p className="text-sm text-muted">{t("answers.none")}</p>
      ) : (
        <BarPlot
          title={t("answers.title")}
          head={t("overview.agent")}
          parts={outcomeParts(t)}
          columns={[t("answers.answers"), t("answers.automatic"), ...outcomeParts(t).map(({ label }) => label)]}
          rows={agents.map((agent) => {
            const decided = agent.answers - agent.undecided;
            return {
              id: agent.agentId,
              label: agent.name ?? t("overview.deletedAgent"),
              values: outcomeValues(agent),
              cells: [agent.answers, agent.automatic, ...outcomeValues(agent)].map(number),
              total: [
                t("answers.count", { n: agent.answers }),
                ...(decided === 0 ? [] : [t("answers.acceptedShare", { share: percent(agent.accepted / decided) })]),
              ].join(" · "),
            };
          })}
        />
      )}
    </Section>
  );
}

/** What became of the agents' answers, and what other thresholds would have sent. */
export function AnswersSection({ search }: { search: OverviewSearch }) {
  const { connection } = useServices();
  const project = useProject();
  const stats = useQuery(answerStatsQuery(connection, project, search));
  if (stats.isPending) return <Skeleton className="h-56 w-full rounded-xl" />;
  if (stats.data === undefined) return <FaultNotice fault={stats.error} onRetry={() => void stats.refetch()} />;
  const { agents } = stats.data;
  return (
    <>
      <Outcomes {...stats.data} />
      {agents.some(({ name }) => name !== null) && <ThresholdSection agents={agents} />}
    </>
  );
}
