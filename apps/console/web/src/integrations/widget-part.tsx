import { useState } from "react";
import type { ReactNode } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import type { ChannelOf } from "../api/channels.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useRights, useSession } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox, ChoiceGroup, Switch } from "../ui/choice-fields.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { AddressField, ArrivalTest } from "./channel-state.tsx";
import { PREVIEW_TEXTS } from "./preview-texts.ts";
import { SaveBar } from "./save-bar.tsx";
import { makeIdentitySecret, makeWidgetKey, SecretControl } from "./secret-control.tsx";
import { wholeNumber } from "./settings-draft.ts";
import { widgetTag } from "./snippets.ts";
import { useAddress } from "./use-address.ts";
import { useChannelChange, useSettingsForm } from "./use-channel.ts";
import type { SettingsForm } from "./use-channel.ts";
import { ColorField, OriginsField, StringsField } from "./widget-fields.tsx";
import { WidgetPreview } from "./widget-preview.tsx";

type WidgetConfig = ChannelConfigs["widget"];
type Form = SettingsForm<WidgetConfig>;
type Feature = Exclude<keyof WidgetConfig["features"], "prechat">;
type Prechat = WidgetConfig["features"]["prechat"][number];

const FEATURES = {
  upload: { title: "widget.upload", hint: "widget.uploadHint" },
  person: { title: "widget.person", hint: "widget.personHint" },
  rating: { title: "widget.rating", hint: "widget.ratingHint" },
  sound: { title: "widget.sound", hint: "widget.soundHint" },
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

function Embedding({
  channel,
  address,
  isDisabled,
}: {
  channel: ChannelOf<"widget">;
  address: ReturnType<typeof useAddress>;
  isDisabled: boolean;
}) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const change = useChannelChange();
  const [isChanging, setChanging] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { apiKey, project } = channel.config;
  if (project === null) return <Notice>{t("widget.ofOtherProject")}</Notice>;
  async function changeKey() {
    setBusy(true);
    try {
      await change("widget", { config: { apiKey: makeWidgetKey() } });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
      setChanging(false);
    }
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
          <Button size="small" disabled={isDisabled} onClick={() => setChanging(true)}>
            {t("widget.changeKey")}
          </Button>
        )}
      </div>
      <AddressField address={address} />
      {isChanging && (
        <ConfirmDialog
          title={t("widget.changeKey")}
          action={t("widget.changeKeyNow")}
          isBusy={isBusy}
          onConfirm={() => void changeKey()}
          onClose={() => setChanging(false)}
        >
          {t("widget.changeKeyText")}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function Looks({ form }: { form: Form }) {
  const { t } = useTexts();
  const { errorOf, isDisabled, set, shown } = form;
  const known = Object.entries(PREVIEW_TEXTS).map(([value, { name }]) => ({ value, label: name }));
  const isKnown = known.some(({ value }) => value === shown.locale);
  return (
    <Section title={t("widget.looks")}>
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceGroup
          label={t("widget.theme")}
          value={shown.theme}
          isDisabled={isDisabled}
          onChange={(theme) => set("theme", theme)}
          options={[
            { value: "auto", label: t("widget.auto") },
            { value: "light", label: t("widget.light") },
            { value: "dark", label: t("widget.dark") },
          ]}
        />
        <ChoiceGroup
          label={t("widget.position")}
          value={shown.position}
          isDisabled={isDisabled}
          onChange={(position) => set("position", position)}
          options={[
            { value: "bottom-left", label: t("widget.left") },
            { value: "bottom-right", label: t("widget.right") },
          ]}
        />
        <ColorField
          label={t("widget.color")}
          value={shown.color}
          error={errorOf("color")}
          isDisabled={isDisabled}
          onChange={(color) => set("color", color)}
        />
        <SelectField
          label={t("widget.locale")}
          hint={t("widget.localeHint")}
          value={shown.locale}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set("locale", currentTarget.value)}
          options={isKnown ? known : [{ value: shown.locale, label: shown.locale }, ...known]}
        />
        <Field
          label={t("widget.title")}
          hint={t("widget.ownWords")}
          error={errorOf("title")}
          value={shown.title}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set("title", currentTarget.value)}
          className="sm:col-span-2"
        />
        <TextArea
          label={t("widget.greeting")}
          hint={t("widget.ownWords")}
          error={errorOf("greeting")}
          rows={2}
          value={shown.greeting}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set("greeting", currentTarget.value)}
          className="sm:col-span-2"
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
            isDisabled={isDisabled}
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
              isDisabled={isDisabled}
              onChange={(isOn) => setPrechat(field, isOn)}
            />
          ))}
        </div>
      </fieldset>
    </Section>
  );
}

function Words({ form: { errorOf, isDisabled, set, shown } }: { form: Form }) {
  const { t } = useTexts();
  return (
    <Section title={t("widget.strings")} text={t("widget.stringsText")}>
      <StringsField
        value={shown.strings}
        error={errorOf("strings")}
        isDisabled={isDisabled}
        onChange={(strings) => set("strings", strings)}
      />
    </Section>
  );
}

function Access({ form }: { form: Form }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const { errorOf, isDisabled, set, shown } = form;
  const names = [...new Set([...projects.map(({ name }) => name), ...(shown.project === null ? [] : [shown.project])])];
  return (
    <Section title={t("widget.access")}>
      <div className="flex flex-col gap-4">
        <OriginsField
          value={shown.allowedOrigins}
          error={errorOf("allowedOrigins")}
          isDisabled={isDisabled}
          onChange={(origins) => set("allowedOrigins", origins)}
        />
        {shown.project !== null && (
          <SelectField
            label={t("widget.project")}
            hint={errorOf("project") ?? t("widget.projectHint")}
            value={shown.project}
            disabled={isDisabled}
            onChange={({ currentTarget }) => set("project", currentTarget.value)}
            options={names.map((name) => ({ value: name, label: name }))}
          />
        )}
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t("widget.rates")}</legend>
          <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
            {RATES.map(({ name, title }) => (
              <Field
                key={name}
                label={t(title)}
                error={errorOf(name)}
                type="number"
                min={1}
                disabled={isDisabled}
                value={shown[name]}
                onChange={({ currentTarget }) => set(name, wholeNumber(currentTarget.value))}
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
    // Without a secret no visitor could prove who they are.
    const open = secret === null ? { requireIdentity: false } : {};
    await change("widget", { config: { identitySecret: secret, ...open } });
  }
  return (
    <Section title={t("widget.identity")} text={t("widget.identityText")}>
      <div className="flex flex-col gap-3.5">
        <SecretControl
          name={t("widget.identitySecret")}
          isSet={isSet}
          isDisabled={isDisabled}
          make={makeIdentitySecret}
          set={save}
          removeText={t("widget.identityRemove")}
        />
        <Switch
          label={t("widget.requireIdentity")}
          hint={errorOf("requireIdentity") ?? t("widget.requireIdentityHint")}
          isOn={shown.requireIdentity}
          isDisabled={isDisabled || !isSet}
          onChange={(isOn) => set("requireIdentity", isOn)}
        />
      </div>
    </Section>
  );
}

const Column = ({ children }: { children: ReactNode }) => <div className="flex min-w-0 flex-col gap-4">{children}</div>;

/** The widget: the tag for pages, how it looks, who may use it, and a preview of all that. */
export function WidgetPart({ channel }: { channel: ChannelOf<"widget"> }) {
  const { t } = useTexts();
  const mayDo = useRights();
  const form = useSettingsForm(channel, mayDo("admin:*"));
  const address = useAddress("widget");
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <Column>
        <Embedding channel={channel} address={address} isDisabled={form.isDisabled} />
        <Looks form={form} />
        <Words form={form} />
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
