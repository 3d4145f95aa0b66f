import { useState } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Section } from "../ui/page-frame.tsx";
import { PREVIEW_TEXTS } from "./preview-texts.ts";
import { QuestionsField, StringsField } from "./widget-fields.tsx";

type WidgetConfig = ChannelConfigs["widget"];
type LanguageTexts = WidgetConfig["languages"][string];

/** Fields for the texts of one language: those of the settings, and overrides of the widget's default texts. */
function LanguageFields({
  value,
  error,
  disabled,
  onChange,
}: {
  value: LanguageTexts;
  error: string | undefined;
  disabled: boolean;
  onChange: (texts: LanguageTexts) => void;
}) {
  const { t } = useTexts();
  const { strings = {}, questions = [] } = value;
  const { title = "", greeting = "", launcher = "", ...others } = strings;
  const setString = (name: string, text: string) => {
    const { [name]: _, ...rest } = strings;
    onChange({ ...value, strings: text === "" ? rest : { ...rest, [name]: text } });
  };
  const fieldOf = (name: string, text: string) => ({
    value: text,
    disabled,
    dir: "auto",
    maxLength: 500,
    onChange: (typed: string) => setString(name, typed),
  });
  return (
    <>
      <Field label={t("widget.title")} {...fieldOf("title", title)} />
      <TextArea label={t("widget.greeting")} rows={2} {...fieldOf("greeting", greeting)} />
      <Field label={t("widget.launcherLabel")} {...fieldOf("launcher", launcher)} />
      <QuestionsField
        value={questions}
        error={error}
        disabled={disabled}
        onChange={(typed) => {
          const { questions: _, ...rest } = value;
          onChange(typed.length === 0 ? rest : { ...rest, questions: typed });
        }}
      />
      <StringsField
        value={others}
        error={undefined}
        disabled={disabled}
        onChange={(overrides) => {
          const settings = Object.entries({ title, greeting, launcher }).filter(([, text]) => text !== "");
          onChange({ ...value, strings: { ...Object.fromEntries(settings), ...overrides } });
        }}
      />
    </>
  );
}

/** Section for the suggested questions and texts of the widget, for all languages or for one of them. */
export function WidgetTexts({ form }: { form: SettingsForm<WidgetConfig> }) {
  const { t } = useTexts();
  const [language, setLanguage] = useState("");
  const { languages } = form.shown;
  const setTexts = (texts: LanguageTexts) => {
    const { [language]: _, ...others } = languages;
    const isEmpty = Object.keys(texts.strings ?? {}).length === 0 && texts.questions === undefined;
    form.set("languages", isEmpty ? others : { ...others, [language]: texts });
  };
  const options = Object.entries(PREVIEW_TEXTS).map(([value, { name }]) => ({
    value,
    label: Object.hasOwn(languages, value) ? `${name} •` : name,
  }));
  return (
    <Section title={t("widget.strings")} text={t("widget.stringsText")}>
      <div className="flex flex-col gap-4">
        <SelectField
          label={t("widget.textsLanguage")}
          value={language}
          onChange={setLanguage}
          options={[{ value: "", label: t("widget.allLanguages") }, ...options]}
        />
        {language === "" ? (
          <>
            <QuestionsField isOfAll {...form.field("questions")} />
            <StringsField {...form.field("strings")} />
          </>
        ) : (
          <LanguageFields
            key={language}
            value={languages[language] ?? {}}
            error={form.errorOf("languages")}
            disabled={form.isDisabled}
            onChange={setTexts}
          />
        )}
      </div>
    </Section>
  );
}
