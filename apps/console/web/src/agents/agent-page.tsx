import type { Agent } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ServiceError } from "@svc/client";
import { ArrowLeft, Trash2 } from "lucide-react";
import { useState } from "react";
import { agentQuery } from "../api/agents.ts";
import { useTexts } from "../i18n/texts.ts";
import { SaveBar } from "../integrations/save-bar.tsx";
import { useServices, useRights, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup, Switch } from "../ui/choice-fields.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Notice, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { MissingPage } from "../ui/error-page.tsx";
import { Section, PageFrame } from "../ui/page-frame.tsx";
import { BasesField, ExamplesField, ModelField } from "./agent-fields.tsx";
import { AgentTools } from "./agent-tools.tsx";
import { ReplaySection } from "./replay-section.tsx";
import { TryAgent } from "./try-agent.tsx";
import { useAgentForm } from "./use-agent-form.ts";

const POLICIES = ["auto_if", "review", "auto"] as const;

/** All that can be said of an agent, with a place beside it to try it out. */
function AgentEditor({ agent }: { agent: Agent }) {
  const { t, percent } = useTexts();
  const mayDo = useRights();
  const mayWrite = mayDo("agents:write");
  const form = useAgentForm(agent, mayWrite);
  const { errorOf, isDisabled, set, shown } = form;
  return (
    <div
      className={`grid items-start gap-4 ${mayDo("agents:execute") ? "lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]" : ""}`}
    >
      <div className="flex min-w-0 flex-col gap-4">
        {!mayWrite && <Notice>{t("agents.readOnly")}</Notice>}
        <Section title={t("agents.who")}>
          <div className="flex flex-col gap-4">
            <Switch
              label={t("agents.enabled")}
              hint={t("agents.enabledHint")}
              isOn={shown.enabled}
              isDisabled={isDisabled}
              onChange={(isOn) => set("enabled", isOn)}
            />
            <Field
              label={t("agents.name")}
              error={errorOf("name")}
              value={shown.name}
              maxLength={200}
              disabled={isDisabled}
              onChange={({ currentTarget }) => set("name", currentTarget.value)}
            />
            <TextArea
              label={t("agents.description")}
              hint={t("agents.descriptionHint")}
              error={errorOf("description")}
              rows={3}
              value={shown.description}
              disabled={isDisabled}
              onChange={({ currentTarget }) => set("description", currentTarget.value)}
            />
          </div>
        </Section>
        <Section title={t("agents.examples")} text={t("agents.examplesText")}>
          <ExamplesField
            examples={shown.examples}
            error={errorOf("examples")}
            isDisabled={isDisabled}
            onChange={(examples) => set("examples", examples)}
          />
        </Section>
        <Section title={t("nav.knowledge")} text={t("agents.basesText")}>
          <BasesField
            kbIds={shown.kbIds}
            error={errorOf("kbIds")}
            isDisabled={isDisabled}
            onChange={(kbIds) => set("kbIds", kbIds)}
          />
        </Section>
        <Section title={t("agents.answers")}>
          <div className="flex flex-col gap-4">
            <ModelField model={shown.model} isDisabled={isDisabled} onChange={(model) => set("model", model)} />
            {errorOf("model") !== undefined && <Notice look="bad">{errorOf("model")}</Notice>}
            <TextArea
              label={t("agents.instructions")}
              hint={t("agents.instructionsHint")}
              error={errorOf("instructions")}
              rows={6}
              value={shown.instructions}
              disabled={isDisabled}
              onChange={({ currentTarget }) => set("instructions", currentTarget.value)}
            />
            <Switch
              label={t("agents.fixed")}
              hint={t("agents.fixedHint")}
              isOn={shown.fixedReply !== null}
              isDisabled={isDisabled}
              onChange={(isOn) => set("fixedReply", isOn ? (agent.fixedReply ?? "") : null)}
            />
            {shown.fixedReply !== null && (
              <TextArea
                label={t("agents.fixedText")}
                error={errorOf("fixedReply")}
                value={shown.fixedReply}
                disabled={isDisabled}
                onChange={({ currentTarget }) => set("fixedReply", currentTarget.value)}
              />
            )}
          </div>
        </Section>
        <Section title={t("agents.policy")}>
          <div className="flex flex-col gap-4">
            <ChoiceGroup
              label={t("agents.policy")}
              hidesLabel
              value={shown.reviewPolicy}
              isDisabled={isDisabled}
              options={POLICIES.map((value) => ({
                value,
                label: t(`agents.policy.${value}`),
                hint: t(`agents.policyHint.${value}`),
              }))}
              onChange={(policy) => set("reviewPolicy", policy)}
            />
            {shown.reviewPolicy === "auto_if" && (
              <label className="block">
                <span className="mb-1 flex justify-between text-sm font-medium">
                  {t("agents.threshold")}
                  <output className="tabular-nums">{percent(shown.autoThreshold)}</output>
                </span>
                <input
                  type="range"
                  min={0}
                  max={100}
                  step={1}
                  value={Math.round(shown.autoThreshold * 100)}
                  disabled={isDisabled}
                  aria-valuetext={percent(shown.autoThreshold)}
                  onChange={({ currentTarget }) => set("autoThreshold", Number(currentTarget.value) / 100)}
                  className="w-full accent-accent"
                />
                <span className="block text-xs text-muted">{t("agents.thresholdHint")}</span>
              </label>
            )}
          </div>
        </Section>
        <Section title={t("agents.tools")} text={t("agents.toolsText")}>
          <AgentTools
            tools={shown.tools}
            error={errorOf("tools")}
            isDisabled={isDisabled}
            onChange={(tools) => set("tools", tools)}
          />
        </Section>
        {mayDo("agents:execute") && mayDo("tickets:read") && <ReplaySection agent={agent} changes={form.changes} />}
        <SaveBar form={form} />
      </div>
      {mayDo("agents:execute") && <TryAgent agent={agent} policy={shown} isDirty={form.isDirty} />}
    </div>
  );
}

/** Deletes the agent after asking: its chats go to others, which no undo could take back. */
function DeleteButton({ agent }: { agent: Agent }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { id, name, version } = agent;

  async function remove() {
    setBusy(true);
    try {
      await connection.call("deleteAgent", project, { params: { id }, ifMatch: version });
      toasts.show({ kind: "done", text: t("agents.deleted", { name }) });
      // Whoever has unsaved changes is not asked about them: what they were made for is gone.
      await navigate({ to: "/$project/agents", params: { project }, ignoreBlocker: true });
    } catch (error) {
      const isChanged = error instanceof ServiceError && error.code === "version_conflict";
      toasts.show({ kind: "error", text: isChanged ? t("agents.changedMeanwhile") : describeError(error, t) });
      setOpen(false);
      void queryClient.invalidateQueries({ queryKey: ["agent", project, id] });
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries({ queryKey: ["agents", project] });
    }
  }

  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        <Trash2 aria-hidden className="size-4" />
        {t("agents.delete")}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={t("agents.deleteTitle", { name })}
          action={t("agents.delete")}
          isBusy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setOpen(false)}
        >
          {t("agents.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}

/** One agent: what it is, and what it answers. */
export function AgentPage() {
  const { agentId } = useParams({ from: "/$project/agents/$agentId" });
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("agents:write");
  const { data: agent, error, refetch } = useQuery(agentQuery(connection, project, agentId));
  const isGone = error instanceof ServiceError && (error.status === 404 || error.status === 400);
  if (isGone && agent === undefined) return <MissingPage />;
  return (
    <PageFrame
      before={
        <Link
          to="/$project/agents"
          params={{ project }}
          className="mb-2 -ml-1 inline-flex items-center gap-1 rounded-md px-1 text-sm text-muted hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-4" />
          {t("nav.agents")}
        </Link>
      }
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
