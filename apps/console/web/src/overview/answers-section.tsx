import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AnswerStats } from "@svc/contracts";
import { agentQuery, changeAgent } from "../api/administration.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/field.tsx";
import { Notice, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { BIN_PERCENT, histogramOf, outcomeParts, resultAt, outcomeValues } from "./answer-counts.ts";
import type { AgentAnswers } from "./answer-counts.ts";
import { answerStatsQuery } from "./overview-search.ts";
import type { OverviewSearch } from "./overview-search.ts";
import { PLOT_HEIGHT, StackedBar, sumOf, BarPlot } from "./plots.tsx";

/**
 * A chart of answers by confidence; those below the threshold are faded. The table and the shares contain the same
 * data.
 */
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

/** Returns a function that saves the threshold of an agent, in percent, and offers to undo it. */
function useSaveThreshold(agent: AgentAnswers & { name: string }, onSaved: () => void) {
  const { t, percent } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { isBusy, runAside } = useAction();
  const { agentId: id, name } = agent;
  const save = (percentage: number, undo: number | null): Promise<void> =>
    runAside(async () => {
      const { version } = await queryClient.fetchQuery({ ...agentQuery(connection, project, id), staleTime: 0 });
      await changeAgent(connection, { project, id, version }, { autoThreshold: percentage / 100 });
      for (const key of ["answer-stats", "agents", "agent"]) {
        await queryClient.invalidateQueries({ queryKey: [key, project] });
      }
      onSaved();
      const text = t("answers.saved", { agent: name, threshold: percent(percentage / 100) });
      const action = undo === null ? {} : { action: { label: t("ui.undo"), run: () => void save(undo, null) } };
      toasts.show({ kind: "done", text, ...action });
    });
  return { isBusy, save };
}

const shareIn = (share: number | null, percent: (share: number) => string) => (share === null ? "–" : percent(share));

/** The results of a threshold in numbers, beside those of the current one. */
function ThresholdFigures({ agent, threshold, present }: { agent: AgentAnswers; threshold: number; present: number }) {
  const { t, number, percent } = useTexts();
  const result = resultAt(agent, threshold);
  const now = resultAt(agent, present);
  const figures = [
    { label: "answers.accepted", name: "accepted" },
    { label: "answers.edited", name: "edited" },
    { label: "answers.objected", name: "rejected" },
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-5">
      <Figure
        label={t("answers.threshold")}
        value={percent(threshold / 100)}
        text={t("answers.present", { threshold: percent(present / 100) })}
      />
      <Figure
        label={t("answers.wouldSend")}
        value={shareIn(result.share, percent)}
        text={t("answers.ofAnswers", { n: agent.answers, sent: number(result.sent) })}
      />
      {figures.map(({ label, name }) => (
        <Figure
          key={name}
          label={t(label)}
          value={shareIn(result[name], percent)}
          text={t("answers.now", { share: shareIn(now[name], percent), threshold: percent(present / 100) })}
        />
      ))}
    </dl>
  );
}

/** A histogram with a slider that chooses the threshold, in percent. */
function ThresholdSlider({
  agent,
  threshold,
  onChoose,
}: {
  agent: AgentAnswers;
  threshold: number;
  onChoose: (threshold: number) => void;
}) {
  const { t, percent } = useTexts();
  const { share, accepted } = resultAt(agent, threshold);
  return (
    <div>
      <Histogram agent={agent} threshold={threshold} />
      <input
        type="range"
        min={0}
        max={100}
        step={1}
        value={threshold}
        aria-label={t("answers.threshold")}
        aria-valuetext={t("answers.valueText", {
          threshold: percent(threshold / 100),
          share: shareIn(share, percent),
          accepted: shareIn(accepted, percent),
        })}
        onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
        className="m-0 block h-6 w-full cursor-ew-resize rounded-md accent-accent -outline-offset-1"
      />
      <div aria-hidden className="flex justify-between text-2xs text-faint tabular-nums">
        {[0, 0.25, 0.5, 0.75, 1].map((mark) => (
          <span key={mark}>{percent(mark)}</span>
        ))}
      </div>
    </div>
  );
}

/** Chooses a threshold of an agent by its effect on past answers, and saves it. */
function Threshold({ agent }: { agent: AgentAnswers & { name: string } }) {
  const { t, percent } = useTexts();
  const mayChange = useRights()("agents:write");
  const present = Math.round((agent.autoThreshold ?? 0) * 100);
  const [chosen, setChosen] = useState<number | null>(null);
  const { isBusy, save } = useSaveThreshold(agent, () => setChosen(null));
  const threshold = chosen ?? present;
  const { undecided } = resultAt(agent, threshold);
  return (
    <div className="flex flex-col gap-4">
      <ThresholdSlider agent={agent} threshold={threshold} onChoose={setChosen} />
      <ThresholdFigures agent={agent} threshold={threshold} present={present} />
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
            variant="primary"
            isBusy={isBusy}
            disabled={threshold === present}
            onClick={() => void save(threshold, present)}
          >
            {t("answers.set", { threshold: percent(threshold / 100) })}
          </Button>
        )}
        {chosen !== null && chosen !== present && (
          <Button variant="quiet" onClick={() => setChosen(null)}>
            {t("answers.reset")}
          </Button>
        )}
        {undecided > 0 && <p className="text-xs text-muted">{t("answers.undecidedText", { n: undecided })}</p>}
      </div>
    </div>
  );
}

/** The effect of other thresholds on an agent's past answers; administrators can set the threshold here. */
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

/** The outcomes of the agents' answers, and the effect of other thresholds. */
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
