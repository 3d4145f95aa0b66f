import { useState } from "react";
import type { ProjectItem } from "@svc/contracts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";

/** Requests that name no project work on it, so it keeps its name. */
const DEFAULT_PROJECT = "default";
const RETENTION_MAX_DAYS = 36_500;
const CONCURRENCY_MAX = 1_000;
const TOKENS_PER_DAY_MAX = 1_000_000_000_000;
/** What a project has at first. */
const CONCURRENCY = 8;
const FILE_RETENTION_DAYS = 90;

/** Languages that the service has hand-off texts in. */
const LANGUAGES = "ar de en es fr he it ja ko nl pl pt ru tr uk zh".split(" ");

/** The number that was typed; null where nothing was. */
const numberOf = (typed: string) => (typed === "" ? null : Number(typed));

/** Makes a project, or changes the settings of the one that is given. */
export function ProjectForm({
  item,
  onSaved,
  onClose,
}: {
  item: ProjectItem | null;
  onSaved: (project: ProjectItem) => void;
  onClose: () => void;
}) {
  const { t, language: uiLanguage, languageName } = useTexts();
  const { connection, queryClient } = useServices();
  const [name, setName] = useState(item?.name ?? "");
  const [handoffText, setHandoffText] = useState(item?.handoffText ?? "");
  const [handoffTexts, setHandoffTexts] = useState(item?.handoffTexts ?? {});
  const [language, setLanguage] = useState(uiLanguage === "de" ? "en" : "de");
  const [greeting, setGreeting] = useState(item?.greeting ?? "");
  const [tablesAsXlsx, setTablesAsXlsx] = useState(item?.tablesAsXlsx ?? true);
  const [retentionDays, setRetentionDays] = useState(item?.retentionDays?.toString() ?? "");
  const [fileRetentionDays, setFileRetentionDays] = useState(
    (item === null ? FILE_RETENTION_DAYS : item.fileRetentionDays)?.toString() ?? "",
  );
  const [concurrency, setConcurrency] = useState(
    (item === null ? CONCURRENCY : item.modelLimits.concurrency)?.toString() ?? "",
  );
  const [tokensPerDay, setTokensPerDay] = useState(item?.modelLimits.tokensPerDay?.toString() ?? "");

  async function submit() {
    const settings = {
      name: name.trim(),
      handoffTexts: Object.fromEntries(
        Object.entries(handoffTexts).flatMap(([key, text]) => (text.trim() === "" ? [] : [[key, text.trim()]])),
      ),
      greeting: greeting.trim(),
      tablesAsXlsx,
      retentionDays: numberOf(retentionDays),
      fileRetentionDays: numberOf(fileRetentionDays),
      modelLimits: { concurrency: numberOf(concurrency), tokensPerDay: numberOf(tokensPerDay) },
    };
    const handoff = { handoffText: handoffText.trim() };
    const answer =
      item === null
        ? // Left out, the service's own text is taken.
          await connection.call("createProject", null, {
            body: { ...settings, ...(handoff.handoffText === "" ? {} : handoff) },
          })
        : await connection.call("updateProject", null, {
            params: { id: item.id },
            body: { ...settings, ...handoff },
            ifMatch: item.version,
          });
    await queryClient.invalidateQueries({ queryKey: ["session"] });
    void queryClient.invalidateQueries({ queryKey: ["projects"] });
    void queryClient.invalidateQueries({ queryKey: ["project"] });
    onSaved(answer.item);
  }

  return (
    <FormDialog
      title={item === null ? t("projects.make") : t("projects.change", { name: item.name })}
      action={t(item === null ? "projects.make" : "ui.save")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("projects.name")}
        hint={t(item?.name === DEFAULT_PROJECT ? "projects.defaultHint" : "projects.nameHint")}
        value={name}
        maxLength={63}
        pattern="[a-z0-9][a-z0-9\-]{0,62}"
        title={t("projects.nameHint")}
        required
        disabled={item?.name === DEFAULT_PROJECT}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TextArea
        label={t("projects.handoff")}
        hint={t(item === null ? "projects.handoffNewHint" : "projects.handoffHint")}
        rows={3}
        maxLength={5_000}
        value={handoffText}
        onChange={({ currentTarget }) => setHandoffText(currentTarget.value)}
      />
      <div className="flex flex-col gap-2">
        <SelectField
          label={t("projects.handoffLanguage")}
          value={language}
          options={[...new Set([...LANGUAGES, ...Object.keys(handoffTexts)])].map((value) => ({
            value,
            label: `${languageName(value)}${(handoffTexts[value] ?? "").trim() === "" ? "" : " ✓"}`,
          }))}
          onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
        />
        <TextArea
          label={t("projects.handoffIn", { language: languageName(language) })}
          hint={t("projects.handoffInHint")}
          rows={2}
          maxLength={5_000}
          dir="auto"
          value={handoffTexts[language] ?? ""}
          onChange={({ currentTarget }) => setHandoffTexts({ ...handoffTexts, [language]: currentTarget.value })}
        />
      </div>
      <TextArea
        label={t("projects.greeting")}
        hint={t("bot.greetingHint")}
        rows={3}
        maxLength={4_000}
        value={greeting}
        onChange={({ currentTarget }) => setGreeting(currentTarget.value)}
      />
      <Switch
        label={t("projects.tables")}
        hint={t("projects.tablesHint")}
        isOn={tablesAsXlsx}
        onChange={setTablesAsXlsx}
      />
      <Field
        label={t("projects.retention")}
        hint={t("projects.retentionHint")}
        type="number"
        inputMode="numeric"
        min={1}
        max={RETENTION_MAX_DAYS}
        step={1}
        value={retentionDays}
        onChange={({ currentTarget }) => setRetentionDays(currentTarget.value)}
      />
      <Field
        label={t("projects.fileRetention")}
        hint={t("projects.fileRetentionHint")}
        type="number"
        inputMode="numeric"
        min={1}
        max={RETENTION_MAX_DAYS}
        step={1}
        value={fileRetentionDays}
        onChange={({ currentTarget }) => setFileRetentionDays(currentTarget.value)}
      />
      <fieldset>
        <legend className="mb-2 text-sm font-semibold">{t("projects.modelLimits")}</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label={t("projects.concurrency")}
            hint={t("projects.concurrencyHint")}
            type="number"
            inputMode="numeric"
            min={1}
            max={CONCURRENCY_MAX}
            step={1}
            value={concurrency}
            onChange={({ currentTarget }) => setConcurrency(currentTarget.value)}
          />
          <Field
            label={t("projects.tokensPerDay")}
            hint={t("projects.tokensPerDayHint")}
            type="number"
            inputMode="numeric"
            min={1}
            max={TOKENS_PER_DAY_MAX}
            step={1}
            value={tokensPerDay}
            onChange={({ currentTarget }) => setTokensPerDay(currentTarget.value)}
          />
        </div>
      </fieldset>
    </FormDialog>
  );
}
