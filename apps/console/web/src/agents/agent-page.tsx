import { useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Agent } from "@svc/contracts";
import { ServiceError } from "@svc/client";
import { agentQuery, changeAgent } from "../api/administration.ts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { SaveBar } from "../forms/form-dialog.tsx";
import { useServices, useRights, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup, Switch } from "../ui/choice-fields.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { MissingPage, PageFrame, Section } from "../ui/page-frame.tsx";
import { AgentTools, BasesField, ExamplesField, ModelField } from "./agent-fields.tsx";
import { ReplaySection } from "./replay-section.tsx";
import { TryAgent } from "./try-agent.tsx";
import { useSettingsForm } from "../forms/use-settings-form.ts";

/** The fields that the editor changes. */
type AgentFields = Omit<Agent, "id" | "version">;

/**
 * A form for an agent. Changes to other fields that another operator has saved meanwhile are kept; after changes to the
 * same fields nothing is saved until the operator has seen them.
 */
function useAgentForm(agent: Agent, mayChange: boolean): SettingsForm<AgentFields> {
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const { id } = agent;
  const query = agentQuery(connection, project, id);

  return useSettingsForm<AgentFields>({
    saved: agent,
    mayChange,
    pointer: "",
    async store(changes, isConflict) {
      async function save(version: number): Promise<string> {
        const saved = await changeAgent(connection, { project, id, version }, changes);
        queryClient.setQueryData(query.queryKey, saved);
        void queryClient.invalidateQueries({ queryKey: ["agents", project] });
        return t("agents.saved", { name: saved.name });
      }
      // The page may have refetched the agent while it was edited: then its version does not indicate conflicts.
      if (isConflict(agent)) return null;
      try {
        return await save(agent.version);
      } catch (cause) {
        if (!(cause instanceof ServiceError) || cause.code !== "version_conflict") throw cause;
      }
      const now = await queryClient.fetchQuery({ ...query, staleTime: 0 });
      return isConflict(now) ? null : save(now.version);
    },
    describe: (error) => describeError(error, t),
  });
}

type Form = SettingsForm<Omit<Agent, "id" | "version">>;

/** The language model, instructions and fixed reply of an agent. */
function AnswerFields({ form, savedReply }: { form: Form; savedReply: string | null }) {
  const { t } = useTexts();
  const { errorOf, field, isDisabled, set, shown } = form;
  return (
    <Section title={t("agents.answers")}>
      <div className="flex flex-col gap-4">
        <ModelField {...field("model")} />
        {errorOf("model") !== undefined && <Notice variant="bad">{errorOf("model")}</Notice>}
        <TextArea
          label={t("agents.instructions")}
          hint={t("agents.instructionsHint")}
          rows={6}
          {...field("instructions")}
        />
        <Switch
          label={t("agents.fixed")}
          hint={t("agents.fixedHint")}
          isOn={shown.fixedReply !== null}
          disabled={isDisabled}
          onChange={(isOn) => set("fixedReply", isOn ? (savedReply ?? "") : null)}
        />
        {shown.fixedReply !== null && (
          <TextArea label={t("agents.fixedText")} {...field("fixedReply")} value={shown.fixedReply} />
        )}
      </div>
    </Section>
  );
}

const POLICIES = ["auto_if", "review", "auto"] as const;

/** Settings for which answers of an agent are sent without review. */
function PolicyFields({ form: { field, isDisabled, set, shown } }: { form: Form }) {
  const { t, percent } = useTexts();
  const { autoThreshold } = shown;
  return (
    <Section title={t("agents.policy")}>
      <div className="flex flex-col gap-4">
        <ChoiceGroup
          label={t("agents.policy")}
          hidesLabel
          options={POLICIES.map((value) => ({
            value,
            label: t(`agents.policy.${value}`),
            hint: t(`agents.policyHint.${value}`),
          }))}
          {...field("reviewPolicy")}
        />
        {shown.reviewPolicy === "auto_if" && (
          <label className="block">
            <span className="mb-1 flex justify-between text-sm font-medium">
              {t("agents.threshold")}
              <output className="tabular-nums">{percent(autoThreshold)}</output>
            </span>
            <input
              type="range"
              min={0}
              max={100}
              step={1}
              value={Math.round(autoThreshold * 100)}
              disabled={isDisabled}
              aria-valuetext={percent(autoThreshold)}
              onChange={({ currentTarget }) => set("autoThreshold", Number(currentTarget.value) / 100)}
              className="w-full accent-accent"
            />
            <span className="block text-xs text-muted">{t("agents.thresholdHint")}</span>
          </label>
        )}
        <Switch
          label={t("agents.roundRobin")}
          hint={t("agents.roundRobinHint")}
          isOn={shown.assignment === "round-robin"}
          disabled={isDisabled}
          onChange={(isOn) => set("assignment", isOn ? "round-robin" : "none")}
        />
      </div>
    </Section>
  );
}

/** The settings of an agent, with a panel for trying it. */
function AgentEditor({ agent }: { agent: Agent }) {
  const { t } = useTexts();
  const mayDo = useRights();
  const mayWrite = mayDo("agents:write");
  const mayExecute = mayDo("agents:execute");
  const form = useAgentForm(agent, mayWrite);
  const { field, isDisabled, set, shown } = form;
  return (
    <div className={`grid items-start gap-4 ${mayExecute ? "lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]" : ""}`}>
      <div className="flex min-w-0 flex-col gap-4">
        {!mayWrite && <Notice>{t("agents.readOnly")}</Notice>}
        <Section title={t("agents.who")}>
          <div className="flex flex-col gap-4">
            <Switch
              label={t("agents.enabled")}
              hint={t("agents.enabledHint")}
              isOn={shown.enabled}
              disabled={isDisabled}
              onChange={(isOn) => set("enabled", isOn)}
            />
            <Field label={t("agents.name")} maxLength={200} {...field("name")} />
            <TextArea
              label={t("agents.description")}
              hint={t("agents.descriptionHint")}
              rows={3}
              {...field("description")}
            />
          </div>
        </Section>
        <Section title={t("agents.examples")} text={t("agents.examplesText")}>
          <ExamplesField {...field("examples")} />
        </Section>
        <Section title={t("nav.knowledge")} text={t("agents.basesText")}>
          <BasesField {...field("kbIds")} />
        </Section>
        <AnswerFields form={form} savedReply={agent.fixedReply} />
        <PolicyFields form={form} />
        <Section title={t("agents.tools")} text={t("agents.toolsText")}>
          <AgentTools {...field("tools")} />
        </Section>
        {mayExecute && mayDo("tickets:read") && <ReplaySection agent={agent} changes={form.changes} />}
        <SaveBar form={form} />
      </div>
      {mayExecute && <TryAgent agent={agent} policy={shown} isDirty={form.isDirty} />}
    </div>
  );
}

/** Deletes the agent after a confirmation: its chats go to other agents, which cannot be undone. */
function DeleteButton({ agent: { id, name, version } }: { agent: Agent }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);

  async function remove() {
    try {
      await connection.call("deleteAgent", project, { params: { id }, ifMatch: version });
      toasts.show({ kind: "done", text: t("agents.deleted", { name }) });
      // Unsaved changes of a deleted agent are discarded without a confirmation.
      await navigate({ to: "/$project/agents", params: { project }, ignoreBlocker: true });
    } catch (error) {
      const isChanged = error instanceof ServiceError && error.code === "version_conflict";
      toasts.show({ kind: "error", text: isChanged ? t("agents.changedMeanwhile") : describeError(error, t) });
      setOpen(false);
      void queryClient.invalidateQueries({ queryKey: ["agent", project, id] });
    }
    void queryClient.invalidateQueries({ queryKey: ["agents", project] });
  }

  return (
    <>
      <Button icon={Trash2} variant="danger" onClick={() => setOpen(true)}>
        {t("agents.delete")}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={t("agents.deleteTitle", { name })}
          action={t("agents.delete")}
          onConfirm={remove}
          onClose={() => setOpen(false)}
        >
          {t("agents.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}

/** An agent: its settings, and ways to try it. */
export function AgentPage() {
  const { agentId } = useParams({ from: "/$project/agents/$agentId" });
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("agents:write");
  const { data: agent, error, refetch } = useQuery(agentQuery(connection, project, agentId));
  const isMissing = error instanceof ServiceError && (error.status === 404 || error.status === 400);
  if (isMissing && agent === undefined) return <MissingPage />;
  return (
    <PageFrame
      back={{ link: linkOptions({ to: "/$project/agents", params: { project } }), label: t("nav.agents") }}
      title={agent?.name ?? <Skeleton className="my-1 h-5 w-48" />}
      actions={mayWrite && agent !== undefined && <DeleteButton agent={agent} />}
    >
      <div className="flex flex-col gap-4">
        {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {agent === undefined && error === null && <Skeleton className="h-96 w-full rounded-xl" />}
        {agent !== undefined && <AgentEditor key={agent.id} agent={agent} />}
      </div>
    </PageFrame>
  );
}
