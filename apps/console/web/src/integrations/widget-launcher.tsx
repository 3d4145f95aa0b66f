import { useEffect, useState } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { Switch } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Section } from "../ui/page-frame.tsx";
import { wholeNumber } from "./use-channel.ts";

type WidgetConfig = ChannelConfigs["widget"];
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
