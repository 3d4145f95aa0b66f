import type { Agent } from "@svc/contracts";
import { useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { SaveBar } from "../integrations/save-bar.tsx";
import { ChoiceGroup } from "../ui/choice-group.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { Switch } from "../ui/switch.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { AgentTools } from "./agent-tools.tsx";
import { BasesField } from "./bases-field.tsx";
import { ExamplesField } from "./examples-field.tsx";
import { ModelField } from "./model-field.tsx";
import { ReplaySection } from "./replay-section.tsx";
import { TryAgent } from "./try-agent.tsx";
import { useAgentForm } from "./use-agent-form.ts";

const POLICIES = ["auto_if", "review", "auto"] as const;

/** All that can be said of an agent, with a place beside it to try it out. */
export function AgentEditor({ agent }: { agent: Agent }) {
  const { t, percent } = useTexts();
  const mayDo = useRights();
  const mayWrite = mayDo("agents:write");
  const form = useAgentForm(agent, mayWrite);
  const { faultOf, isDisabled, set, shown } = form;
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
              fault={faultOf("name")}
              value={shown.name}
              maxLength={200}
              disabled={isDisabled}
              onChange={({ currentTarget }) => set("name", currentTarget.value)}
            />
            <TextArea
              label={t("agents.description")}
              hint={t("agents.descriptionHint")}
              fault={faultOf("description")}
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
            fault={faultOf("examples")}
            isDisabled={isDisabled}
            onChange={(examples) => set("examples", examples)}
          />
        </Section>
        <Section title={t("nav.knowledge")} text={t("agents.basesText")}>
          <BasesField
            kbIds={shown.kbIds}
            fault={faultOf("kbIds")}
            isDisabled={isDisabled}
            onChange={(kbIds) => set("kbIds", kbIds)}
          />
        </Section>
        <Section title={t("agents.answers")}>
          <div className="flex flex-col gap-4">
            <ModelField model={shown.model} isDisabled={isDisabled} onChange={(model) => set("model", model)} />
            {faultOf("model") !== undefined && <Notice look="bad">{faultOf("model")}</Notice>}
            <TextArea
              label={t("agents.instructions")}
              hint={t("agents.instructionsHint")}
              fault={faultOf("instructions")}
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
                fault={faultOf("fixedReply")}
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
            fault={faultOf("tools")}
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
