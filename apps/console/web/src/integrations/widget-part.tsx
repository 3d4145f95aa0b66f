import { useState } from "react";
import type { ReactNode } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import type { ChannelOf } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { SaveBar } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useSession } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox, ChoiceGroup, Switch } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { AddressField, ArrivalTest } from "./channel-state.tsx";
import { PREVIEW_TEXTS } from "./preview-texts.ts";
import { makeIdentitySecret, makeWidgetKey, SecretControl } from "./keys-section.tsx";
import { useAddress, widgetTag } from "./snippets.ts";
import { useChannelChange, useChannelForm, wholeNumber } from "./use-channel.ts";
import { ColorField, OriginsField } from "./widget-fields.tsx";
import { LauncherFields } from "./widget-launcher.tsx";
import { WidgetPreview } from "./widget-preview.tsx";
import { WidgetTexts } from "./widget-texts.tsx";

type WidgetConfig = ChannelConfigs["widget"];
type Form = SettingsForm<WidgetConfig>;
type Feature = Exclude<keyof WidgetConfig["features"], "prechat">;
type Prechat = WidgetConfig["features"]["prechat"][number];

const FEATURES = {
  upload: { title: "widget.upload", hint: "widget.uploadHint" },
  person: { title: "widget.person", hint: "widget.personHint" },
  rating: { title: "widget.rating", hint: "widget.ratingHint" },
  sound: { title: "widget.sound", hint: "widget.soundHint" },
  tables: { title: "widget.tables", hint: "widget.tablesHint" },
} as const satisfies Record<Feature, { title: TextKey; hint: TextKey }>;

const PRECHAT = { name: "widget.prechatName", email: "widget.prechatEmail" } as const satisfies Record<
  Prechat,
  TextKey
>;

const RATES = [
  { name: "messagesPerMinute", title: "widget.messagesPerMinute" },
  { name: "configReadsPerMinute", title: "widget.readsPerMinute" },
  { name: "filesPerMinute", title: "widget.filesPerMinute" },
  { name: "socketsPerMinute", title: "widget.socketsPerMinute" },
] as const satisfies readonly { name: keyof WidgetConfig; title: TextKey }[];

/** The tag for the pages of a site, with the key of the widget. */
function Embedding({
  channel,
  address,
  disabled,
}: {
  channel: ChannelOf<"widget">;
  address: ReturnType<typeof useAddress>;
  disabled: boolean;
}) {
  const { t } = useTexts();
  const change = useChannelChange();
  const [isChanging, setChanging] = useState(false);
  const { runAside } = useAction();
  const { apiKey, project } = channel.config;
  if (project === null) return <Notice>{t("widget.ofOtherProject")}</Notice>;
  async function changeKey() {
    await runAside(async () => {
      await change("widget", { config: { apiKey: makeWidgetKey() } });
    });
    setChanging(false);
  }
  return (
    <Section title={t("widget.tag")} text={t("widget.tagText")}>
      {apiKey === null ? (
        <Notice>{t("widget.noKey")}</Notice>
      ) : (
        <CopyBox label={t("widget.tag")} text={widgetTag(address.url, apiKey)} isWrapped />
      )}
      <div className="mt-2 flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-muted">{t("widget.keyIsPublic")}</p>
        {apiKey !== null && (
          <Button size="small" disabled={disabled} onClick={() => setChanging(true)}>
            {t("widget.changeKey")}
          </Button>
        )}
      </div>
      <AddressField address={address} />
      {isChanging && (
        <ConfirmDialog
          title={t("widget.changeKey")}
          action={t("widget.changeKeyNow")}
          onConfirm={changeKey}
          onClose={() => setChanging(false)}
        >
          {t("widget.changeKeyText")}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function AppearanceFields({ form: { field, shown } }: { form: Form }) {
  const { t } = useTexts();
  const known = Object.entries(PREVIEW_TEXTS).map(([value, { name }]) => ({ value, label: name }));
  const isKnown = known.some(({ value }) => value === shown.locale);
  return (
    <Section title={t("widget.looks")}>
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceGroup
          label={t("widget.theme")}
          options={[
            { value: "auto", label: t("widget.auto") },
            { value: "light", label: t("widget.light") },
            { value: "dark", label: t("widget.dark") },
          ]}
          {...field("theme")}
        />
        <ChoiceGroup
          label={t("widget.position")}
          options={[
            { value: "bottom-left", label: t("widget.left") },
            { value: "bottom-right", label: t("widget.right") },
          ]}
          {...field("position")}
        />
        <ColorField label={t("widget.color")} {...field("color")} />
        <SelectField
          label={t("widget.locale")}
          hint={t("widget.localeHint")}
          options={isKnown ? known : [{ value: shown.locale, label: shown.locale }, ...known]}
          {...field("locale")}
        />
        <Field
          label={t("widget.logo")}
          hint={t("widget.pathHint")}
          placeholder="/images/logo.svg"
          spellCheck={false}
          className="sm:col-span-2"
          {...field("logo")}
        />
        <Field label={t("widget.title")} hint={t("widget.ownWords")} className="sm:col-span-2" {...field("title")} />
        <TextArea
          label={t("widget.greeting")}
          hint={t("widget.ownWords")}
          rows={2}
          className="sm:col-span-2"
          {...field("greeting")}
        />
      </div>
    </Section>
  );
}

function Features({ form }: { form: Form }) {
  const { t } = useTexts();
  const { isDisabled, set, shown } = form;
  const { features } = shown;
  const setPrechat = (field: Prechat, isOn: boolean) => {
    const others = features.prechat.filter((other) => other !== field);
    set("features", { ...features, prechat: isOn ? [...others, field] : others });
  };
  return (
    <Section title={t("widget.features")}>
      <div className="grid gap-x-6 gap-y-3.5 sm:grid-cols-2">
        {(Object.keys(FEATURES) as Feature[]).map((name) => (
          <Switch
            key={name}
            label={t(FEATURES[name].title)}
            hint={t(FEATURES[name].hint)}
            isOn={features[name]}
            disabled={isDisabled}
            onChange={(isOn) => set("features", { ...features, [name]: isOn })}
          />
        ))}
      </div>
      <fieldset className="mt-4">
        <legend className="mb-1.5 text-sm font-medium">{t("widget.prechat")}</legend>
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          {(Object.keys(PRECHAT) as Prechat[]).map((field) => (
            <CheckBox
              key={field}
              label={t(PRECHAT[field])}
              isOn={features.prechat.includes(field)}
              disabled={isDisabled}
              onChange={(isOn) => setPrechat(field, isOn)}
            />
          ))}
        </div>
      </fieldset>
    </Section>
  );
}

function Access({ form }: { form: Form }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const { errorOf, field, isDisabled, set, shown } = form;
  const names = [...new Set([...projects.map(({ name }) => name), ...(shown.project === null ? [] : [shown.project])])];
  return (
    <Section title={t("widget.access")}>
      <div className="flex flex-col gap-4">
        <OriginsField {...field("allowedOrigins")} />
        {shown.project !== null && (
          <SelectField
            label={t("widget.project")}
            hint={errorOf("project") ?? t("widget.projectHint")}
            options={names.map((name) => ({ value: name, label: name }))}
            disabled={isDisabled}
            value={shown.project}
            onChange={(value) => set("project", value)}
          />
        )}
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t("widget.rates")}</legend>
          <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
            {RATES.map(({ name, title }) => (
              <Field
                key={name}
                label={t(title)}
                type="number"
                min={1}
                {...field(name)}
                onChange={(value) => set(name, wholeNumber(value))}
              />
            ))}
          </div>
        </fieldset>
      </div>
    </Section>
  );
}

function Identity({ channel, form }: { channel: ChannelOf<"widget">; form: Form }) {
  const { t } = useTexts();
  const change = useChannelChange();
  const { errorOf, isDisabled, set, shown } = form;
  const isSet = channel.config.identitySecret !== null;
  async function save(secret: string | null) {
    // Without a secret no visitor could be identified.
    const open = secret === null ? { requireIdentity: false } : {};
    await change("widget", { config: { identitySecret: secret, ...open } });
  }
  return (
    <Section title={t("widget.identity")} text={t("widget.identityText")}>
      <div className="flex flex-col gap-3.5">
        <SecretControl
          name={t("widget.identitySecret")}
          isSet={isSet}
          disabled={isDisabled}
          make={makeIdentitySecret}
          set={save}
          removeText={t("widget.identityRemove")}
        />
        <Switch
          label={t("widget.requireIdentity")}
          hint={errorOf("requireIdentity") ?? t("widget.requireIdentityHint")}
          isOn={shown.requireIdentity}
          disabled={isDisabled || !isSet}
          onChange={(isOn) => set("requireIdentity", isOn)}
        />
      </div>
    </Section>
  );
}

const Column = ({ children }: { children: ReactNode }) => <div className="flex min-w-0 flex-col gap-4">{children}</div>;

/** The widget: the tag for pages, its appearance, access to it, and a preview. */
export function WidgetPart({ channel }: { channel: ChannelOf<"widget"> }) {
  const { t } = useTexts();
  const form = useChannelForm(channel);
  const address = useAddress("widget");
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <Column>
        <Embedding channel={channel} address={address} disabled={form.isDisabled} />
        <AppearanceFields form={form} />
        <LauncherFields form={form} />
        <WidgetTexts form={form} />
        <Features form={form} />
        <Access form={form} />
        <Identity channel={channel} form={form} />
        <SaveBar form={form} />
      </Column>
      <div className="flex min-w-0 flex-col gap-4 xl:sticky xl:top-4">
        <Section title={t("widget.preview")}>
          <WidgetPreview config={form.shown} />
        </Section>
        <ArrivalTest channelId="widget" text={t("widget.tryText")}>
          <p className="text-sm [&_a]:font-medium [&_a]:text-accent [&_a]:underline">
            <OutLink href={`${address.url}/`}>{t("widget.demo")}</OutLink>
          </p>
        </ArrivalTest>
      </div>
    </div>
  );
}
