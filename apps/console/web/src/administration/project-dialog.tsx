import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectItem } from "@svc/contracts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import {
  HoursFieldset,
  ReplyEmailFields,
  SlaFieldset,
  hoursFieldsOf,
  hoursOf,
  replyEmailsOf,
  slaFieldsOf,
  slaTargetsOf,
} from "./project-fields.tsx";

/** Requests without a project use this one, so its name cannot change. */
export const DEFAULT_PROJECT = "default";
const RETENTION_MAX_DAYS = 36_500;
const CONCURRENCY_MAX = 1_000;
const TOKENS_PER_DAY_MAX = 1_000_000_000_000;
/** Limits of a project, by resource. */
const QUOTAS = ["messagesPerDay", "documents", "storageMb", "sockets"] as const;
/** Limits of a new project. */
const CONCURRENCY = 8;
const FILE_RETENTION_DAYS = 90;
/** Attributes of a field for a positive whole number. */
const COUNT = { type: "number", inputMode: "numeric", min: 1, step: 1 } as const;

/** Languages for which the service has handoff texts. */
const LANGUAGES = "ar de en es fr he it ja ko nl pl pt ru tr uk zh".split(" ");

/** Returns the entered number, or null for an empty field. */
const numberOf = (typed: string) => (typed === "" ? null : Number(typed));
const textOf = (value: number | null | undefined) => value?.toString() ?? "";

/** Returns the texts of a project's form. */
const fieldsOf = (item: ProjectItem | null) => ({
  name: item?.name ?? "",
  handoffText: item?.handoffText ?? "",
  greeting: item?.greeting ?? "",
  retentionDays: textOf(item?.retentionDays),
  fileRetentionDays: textOf(item === null ? FILE_RETENTION_DAYS : item.fileRetentionDays),
  concurrency: textOf(item === null ? CONCURRENCY : item.modelLimits.concurrency),
  tokensPerDay: textOf(item?.modelLimits.tokensPerDay),
  messagesPerDay: textOf(item?.quotas.messagesPerDay),
  documents: textOf(item?.quotas.documents),
  storageMb: textOf(item?.quotas.storageMb),
  sockets: textOf(item?.quotas.sockets),
  replyEmailMinutes: textOf(item?.replyEmails?.delayMinutes ?? 5),
  ...hoursFieldsOf(item),
  ...slaFieldsOf(item?.slaTargets ?? []),
});

type HandoffTexts = ProjectItem["handoffTexts"];

/** The handoff texts of single languages: a language is chosen, then its text is entered. */
function HandoffTextsField({ texts, onChange }: { texts: HandoffTexts; onChange: (texts: HandoffTexts) => void }) {
  const { t, language: uiLanguage, languageName } = useTexts();
  const [language, setLanguage] = useState(uiLanguage === "de" ? "en" : "de");
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label={t("projects.handoffLanguage")}
        value={language}
        options={[...new Set([...LANGUAGES, ...Object.keys(texts)])].map((value) => ({
          value,
          label: `${languageName(value)}${(texts[value] ?? "").trim() === "" ? "" : " ✓"}`,
        }))}
        onChange={setLanguage}
      />
      <TextArea
        label={t("projects.handoffIn", { language: languageName(language) })}
        hint={t("projects.handoffInHint")}
        rows={2}
        maxLength={5_000}
        dir="auto"
        value={texts[language] ?? ""}
        onChange={(text) => onChange({ ...texts, [language]: text })}
      />
    </div>
  );
}

/** The fields of a project, and the function that saves them. */
function useProjectForm(item: ProjectItem | null, onSaved: (project: ProjectItem) => void) {
  const { connection, queryClient } = useServices();
  const { values, field } = useFields(fieldsOf(item));
  const [handoffTexts, setHandoffTexts] = useState(item?.handoffTexts ?? {});
  const [tablesAsXlsx, setTablesAsXlsx] = useState(item?.tablesAsXlsx ?? true);
  const [replyEmails, setReplyEmails] = useState(item?.replyEmails?.recipients ?? null);

  async function submit() {
    const settings = {
      name: values.name.trim(),
      handoffTexts: Object.fromEntries(
        Object.entries(handoffTexts).flatMap(([key, text]) => (text.trim() === "" ? [] : [[key, text.trim()]])),
      ),
      greeting: values.greeting.trim(),
      tablesAsXlsx,
      retentionDays: numberOf(values.retentionDays),
      fileRetentionDays: numberOf(values.fileRetentionDays),
      modelLimits: { concurrency: numberOf(values.concurrency), tokensPerDay: numberOf(values.tokensPerDay) },
      quotas: Object.fromEntries(QUOTAS.map((name) => [name, numberOf(values[name])])),
      businessHours: hoursOf(values),
      replyTimeMinutes: numberOf(values.replyTimeMinutes),
      slaTargets: slaTargetsOf(values, item?.slaTargets ?? []),
      replyEmails: replyEmailsOf(replyEmails, values.replyEmailMinutes),
    };
    const handoffText = values.handoffText.trim();
    const saved =
      item === null
        ? // If it is omitted, the service's default is used.
          await connection.call("createProject", null, {
            body: { ...settings, ...(handoffText === "" ? {} : { handoffText }) },
          })
        : await connection.call("updateProject", null, {
            params: { id: item.id },
            body: { ...settings, handoffText },
            ifMatch: item.version,
          });
    await queryClient.invalidateQueries({ queryKey: ["session"] });
    void queryClient.invalidateQueries({ queryKey: ["projects"] });
    void queryClient.invalidateQueries({ queryKey: ["project"] });
    onSaved(saved.item);
  }
  const texts = { handoffTexts, setHandoffTexts, tablesAsXlsx, setTablesAsXlsx };
  return { values, field, ...texts, replyEmails, setReplyEmails, submit };
}

/** Usage of a project today (UTC). */
function UsageToday({ project }: { project: string }) {
  const { connection } = useServices();
  const { t, number } = useTexts();
  const from = new Date().toISOString().slice(0, 10);
  const usage = useQuery({
    queryKey: ["usage", project, from],
    queryFn: ({ signal }) => connection.call("getUsage", null, { query: { project, from }, signal }),
  });
  const [today] = usage.data?.items ?? [];
  if (today === undefined) return null;
  const { messages, documents, storedBytes, sockets, modelTokens } = today;
  const counts = { messages, documents, sockets, modelTokens };
  const shown = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, number(count)]));
  return <p className="mt-2 text-sm">{t("projects.usage", { ...shown, stored: number(storedBytes / 1024 ** 2) })}</p>;
}

/** Retention period and limits of a project. */
function LimitFields({ field, item }: Pick<ReturnType<typeof useProjectForm>, "field"> & { item: ProjectItem | null }) {
  const { t } = useTexts();
  return (
    <>
      {(["retention", "fileRetention"] as const).map((name) => (
        <Field
          key={name}
          label={t(`projects.${name}`)}
          hint={t(`projects.${name}Hint`)}
          {...COUNT}
          max={RETENTION_MAX_DAYS}
          {...field(`${name}Days`)}
        />
      ))}
      <fieldset>
        <legend className="mb-2 text-sm font-semibold">{t("projects.modelLimits")}</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          {(["concurrency", "tokensPerDay"] as const).map((name) => (
            <Field
              key={name}
              label={t(`projects.${name}`)}
              hint={t(`projects.${name}Hint`)}
              {...COUNT}
              max={name === "concurrency" ? CONCURRENCY_MAX : TOKENS_PER_DAY_MAX}
              {...field(name)}
              pointer={`/modelLimits/${name}`}
            />
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend className="mb-2 text-sm font-semibold">{t("projects.quotas")}</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          {QUOTAS.map((name) => (
            <Field key={name} label={t(`projects.${name}`)} {...COUNT} {...field(name)} pointer={`/quotas/${name}`} />
          ))}
        </div>
        <p className="mt-2 text-xs text-muted">{t("projects.quotasHint")}</p>
        {item !== null && <UsageToday project={item.name} />}
      </fieldset>
    </>
  );
}

/** The text after a hand-off, and those for other languages. */
function HandoffFields({ form, isNew }: { form: ReturnType<typeof useProjectForm>; isNew: boolean }) {
  const { t } = useTexts();
  return (
    <>
      <TextArea
        label={t("projects.handoff")}
        hint={t(isNew ? "projects.handoffNewHint" : "projects.handoffHint")}
        rows={3}
        maxLength={5_000}
        {...form.field("handoffText")}
      />
      <HandoffTextsField texts={form.handoffTexts} onChange={form.setHandoffTexts} />
    </>
  );
}

/** Creates a project, or changes the settings of the given one. */
export function ProjectDialog({
  item,
  startsAtHours,
  onSaved,
  onClose,
}: {
  item: ProjectItem | null;
  /** True if the business hours are focused first. */
  startsAtHours: boolean;
  onSaved: (project: ProjectItem) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const form = useProjectForm(item, onSaved);
  const { values, field, tablesAsXlsx, setTablesAsXlsx, submit } = form;
  const isDefault = item?.name === DEFAULT_PROJECT;
  return (
    <FormDialog
      title={item === null ? t("projects.make") : t("projects.change", { name: item.name })}
      action={t(item === null ? "projects.make" : "ui.save")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("projects.name")}
        hint={t(isDefault ? "projects.defaultHint" : "projects.nameHint")}
        maxLength={63}
        pattern="[a-z0-9][a-z0-9\-]{0,62}"
        title={t("projects.nameHint")}
        required
        disabled={isDefault}
        {...field("name")}
      />
      <HandoffFields form={form} isNew={item === null} />
      <TextArea
        label={t("projects.greeting")}
        hint={t("bot.greetingHint")}
        rows={3}
        maxLength={4_000}
        {...field("greeting")}
      />
      <Switch
        label={t("projects.tables")}
        hint={t("projects.tablesHint")}
        isOn={tablesAsXlsx}
        onChange={setTablesAsXlsx}
      />
      <ReplyEmailFields chosen={form.replyEmails} onChange={form.setReplyEmails} delay={field("replyEmailMinutes")} />
      <HoursFieldset field={field} isOpen={values.timeZone.trim() !== ""} isFirst={startsAtHours} />
      <SlaFieldset field={field} />
      <LimitFields field={field} item={item} />
    </FormDialog>
  );
}
