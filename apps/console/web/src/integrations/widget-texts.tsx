import { useEffect, useState } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Section } from "../ui/page-frame.tsx";
import { PREVIEW_TEXTS } from "./preview-texts.ts";
import { wholeNumber } from "./use-channel.ts";
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

type Launcher = WidgetConfig["launcher"];

const ICONS = {
  chat: "widget.iconChat",
  question: "widget.iconQuestion",
  headset: "widget.iconHeadset",
  mail: "widget.iconMail",
  sparkle: "widget.iconSparkle",
} as const satisfies Record<Launcher["icon"], TextKey>;

const pathsOf = (text: string) => text.split(/\s+/).filter((path) => path !== "");

/** The launcher's icon, position, and pages without it. */
// oxlint-disable-next-line max-lines-per-function -- one form: a few lines for each of its fields
export function LauncherFields({ form }: { form: SettingsForm<WidgetConfig> }) {
  const { t } = useTexts();
  const { errorOf, isDisabled: disabled, set, shown } = form;
  const { launcher } = shown;
  const change = (part: Partial<Launcher>) => set("launcher", { ...launcher, ...part });
  const saved = launcher.hiddenPaths.join("\n");
  const [paths, setPaths] = useState(saved);
  // Typed text keeps its line breaks; a change from elsewhere replaces it.
  useEffect(() => {
    setPaths((typed) => (pathsOf(typed).join("\n") === saved ? typed : saved));
  }, [saved]);
  const error = errorOf("launcher");
  return (
    <Section title={t("widget.launcher")}>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t("widget.icon")}
          value={launcher.icon}
          onChange={(icon) => change({ icon: icon as Launcher["icon"] })}
          disabled={disabled}
          options={Object.entries(ICONS).map(([value, name]) => ({ value, label: t(name) }))}
        />
        <Field
          label={t("widget.launcherImage")}
          hint={t("widget.pathHint")}
          placeholder="/images/chat.svg"
          spellCheck={false}
          disabled={disabled}
          value={launcher.image}
          onChange={(image) => change({ image: image.trim() })}
        />
        <Field
          label={t("widget.launcherLabel")}
          hint={t("widget.launcherLabelHint")}
          maxLength={40}
          dir="auto"
          disabled={disabled}
          value={launcher.label}
          onChange={(label) => change({ label })}
        />
        <div className="grid grid-cols-2 gap-3">
          {(["side", "bottom"] as const).map((edge) => (
            <Field
              key={edge}
              label={t(edge === "side" ? "widget.fromSide" : "widget.fromBottom")}
              type="number"
              min={0}
              max={400}
              disabled={disabled}
              value={launcher[edge]}
              onChange={(value) => change({ [edge]: wholeNumber(value) })}
            />
          ))}
        </div>
        <TextArea
          label={t("widget.hiddenPaths")}
          hint={t("widget.hiddenPathsHint")}
          rows={2}
          spellCheck={false}
          placeholder="/checkout/*"
          className="sm:col-span-2"
          disabled={disabled}
          value={paths}
          onChange={(typed) => {
            setPaths(typed);
            change({ hiddenPaths: pathsOf(typed) });
          }}
        />
        <Switch
          label={t("widget.hiddenOnPhones")}
          hint={t("widget.hiddenOnPhonesHint")}
          isOn={launcher.hiddenOnPhones}
          disabled={disabled}
          onChange={(hiddenOnPhones) => change({ hiddenOnPhones })}
        />
        {error !== undefined && (
          <p role="alert" className="text-xs text-bad sm:col-span-2">
            {error}
          </p>
        )}
      </div>
    </Section>
  );
}
