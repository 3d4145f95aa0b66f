import { useQueryClient, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { AnswerStats } from "@svc/contracts";
import { agentQuery, changeAgent } from "../api/agents.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { SelectField } from "../ui/field.tsx";
import { Notice, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { BIN_PERCENT, histogramOf, outcomeParts, resultAt, outcomeValues } from "./answer-counts.ts";
import type { AgentAnswers } from "./answer-counts.ts";
import type { OverviewSearch } from "./overview-search.ts";
import { PLOT_HEIGHT, StackedBar, sumOf, BarPlot } from "./plots.tsx";
import { answerStatsQuery } from "./stats.ts";

/** Answers by confidence; those that the threshold would hold are faded. The table and the shares say the same. */
function Histogram({ agent, threshold }: { agent: AgentAnswers; threshold: number }) {
  const { t } = useTexts();
  const bins = histogramOf(agent);
  const scale = PLOT_HEIGHT / Math.max(1, ...bins.map(sumOf));
  const parts = outcomeParts(t);
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${bins.length} ${PLOT_HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-28 w-full border-b border-line"
    >
      {bins.map((values, at) => (
        <g key={at} opacity={(at + 1) * BIN_PERCENT <= threshold ? 0.3 : 1}>
          <StackedBar at={at} parts={parts} values={values} scale={scale} />
        </g>
      ))}
      <line
        x1={threshold / BIN_PERCENT}
        x2={threshold / BIN_PERCENT}
        y1={0}
        y2={PLOT_HEIGHT}
        className="stroke-ink"
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
        strokeDasharray="4 3"
      />
    </svg>
  );
}

function Figure({ label, value, text }: { label: string; value: string; text: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{label}</dt>
      <dd>
        <span className="block text-xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className="block text-xs text-muted tabular-nums">{text}</span>
      </dd>
    </div>
  );
}

function Threshold({ agent }: { agent: AgentAnswers & { name: string } }) {
  const { t, number, percent } = useTexts();
  const { connection, toasts } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const mayChange = useRights()("agents:write");
  const sliderId = useId();
  const present = Math.round((agent.autoThreshold ?? 0) * 100);
  const [chosen, setChosen] = useState<number | null>(null);
  const [isBusy, setBusy] = useState(false);
  const threshold = chosen ?? present;
  const result = resultAt(agent, threshold);
  const now = resultAt(agent, present);
  const shareText = (share: number | null) => (share === null ? "–" : percent(share));
  const nowText = (share: number | null) =>
    t("answers.now", { share: shareText(share), threshold: percent(present / 100) });

  async function save(percentage: number, undo: number | null) {
    setBusy(true);
    try {
      const { version } = await queryClient.fetchQuery({
        ...agentQuery(connection, project, agent.agentId),
        staleTime: 0,
      });
      await changeAgent(connection, { project, id: agent.agentId, version }, { autoThreshold: percentage / 100 });
      for (const key of ["answer-stats", "agents", "agent"]) {
        await queryClient.invalidateQueries({ queryKey: [key, project] });
      }
      setChosen(null);
      const text = t("answers.saved", { agent: agent.name, threshold: percent(percentage / 100) });
      const action = undo === null ? {} : { action: { label: t("ui.undo"), run: () => void save(undo, null) } };
      toasts.show({ kind: "done", text, ...action });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="flex flex-col gap-4">
      <div>
        <Histogram agent={agent} threshold={threshold} />
        <input
          id={sliderId}
          type="range"
          min={0}
          max={100}
          step={1}
          value={threshold}
          aria-label={t("answers.threshold")}
          aria-valuetext={t("answers.valueText", {
            threshold: percent(threshold / 100),
            share: shareText(result.share),
            accepted: shareText(result.accepted),
          })}
          onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
          className="m-0 block h-6 w-full cursor-ew-resize rounded-md accent-accent -outline-offset-1"
        />
        <div aria-hidden className="flex justify-between text-2xs text-faint tabular-nums">
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <span key={share}>{percent(share)}</span>
          ))}
        </div>
      </div>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-5">
        <Figure
          label={t("answers.threshold")}
          value={percent(threshold / 100)}
          text={t("answers.present", { threshold: percent(present / 100) })}
        />
        <Figure
          label={t("answers.wouldSend")}
          value={shareText(result.share)}
          text={t("answers.ofAnswers", { n: agent.answers, sent: number(result.sent) })}
        />
        <Figure label={t("answers.accepted")} value={shareText(result.accepted)} text={nowText(now.accepted)} />
        <Figure label={t("answers.edited")} value={shareText(result.edited)} text={nowText(now.edited)} />
        <Figure label={t("answers.objected")} value={shareText(result.rejected)} text={nowText(now.rejected)} />
      </dl>
      {agent.reviewPolicy !== "auto_if" && (
        <Notice>
          {t(agent.reviewPolicy === "auto" ? "answers.policyAuto" : "answers.policyReview", {
            policy: t("agents.policy.auto_if"),
          })}
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {mayChange && (
          <Button
            look="primary"
            isBusy={isBusy}
            disabled={threshold === present}
            onClick={() => void save(threshold, present)}
          >
            {t("answers.set", { threshold: percent(threshold / 100) })}
          </Button>
        )}
        {chosen !== null && chosen !== present && (
          <Button look="quiet" onClick={() => setChosen(null)}>
            {t("answers.reset")}
          </Button>
        )}
        {result.undecided > 0 && (
          <p className="text-xs text-muted">{t("answers.undecidedText", { n: result.undecided })}</p>
        )}
      </div>
    </div>
  );
}

/** What other thresholds would have sent of an agent's past answers; administrators can set the threshold here. */
function ThresholdSection({ agents }: { agents: readonly AgentAnswers[] }) {
  const { t } = useTexts();
  const known = agents.flatMap((agent) => (agent.name === null ? [] : [{ ...agent, name: agent.name }]));
  const [chosen, setChosen] = useState<string | null>(null);
  const agent = known.find(({ agentId }) => agentId === chosen) ?? known[0];
  if (agent === undefined) return null;
  return (
    <Section
      title={t("answers.whatIf")}
      text={t("answers.whatIfText")}
      actions={
        <SelectField
          label={t("overview.agent")}
          hidesLabel
          value={agent.agentId}
          onChange={setChosen}
          options={known.map(({ agentId, name }) => ({ value: agentId, label: name }))}
          className="w-44"
        />
      }
    >
      <Threshold key={agent.agentId} agent={agent} />
    </Section>
  );
}

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
  if (stats.data === undefined) return <ErrorNotice error={stats.error} onRetry={() => void stats.refetch()} />;
  const { agents } = stats.data;
  return (
    <>
      <Outcomes {...stats.data} />
      {agents.some(({ name }) => name !== null) && <ThresholdSection agents={agents} />}
    </>
  );
}
