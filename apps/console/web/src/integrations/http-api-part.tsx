import { Tabs } from "radix-ui";
import { useState } from "react";
import type { ChannelOf } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { SaveBar } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useProject } from "../session/services.ts";
import { ChoiceGroup, TabList } from "../ui/choice-fields.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { AddressField, ArrivalTest } from "./channel-state.tsx";
import { KeysSection, makeWebhookSecret, SecretControl } from "./keys-section.tsx";
import type { KeyRight } from "./keys-section.tsx";
import { clientCall, curlCall, KEY_PLACEHOLDER, useAddress } from "./snippets.ts";
import { useChannelChange, useChannelForm, wholeNumber } from "./use-channel.ts";

const RIGHTS: readonly KeyRight[] = [
  { id: "send", text: "right.send", scopes: ["messages:write"], isUsual: true },
  { id: "collect", text: "right.collect", scopes: ["messages:read"], isUsual: true },
  { id: "tickets", text: "right.tickets", scopes: ["tickets:read"], isUsual: false },
  { id: "knowledge", text: "right.knowledge", scopes: ["kb:read", "kb:write"], isUsual: false },
  { id: "agents", text: "right.agents", scopes: ["agents:read", "agents:execute"], isUsual: false },
  { id: "deliveries", text: "right.deliveries", scopes: ["webhooks:read", "webhooks:write"], isUsual: false },
];

const HOUR_S = 3_600;
/** Choices for how long the previous secret signs beside a new one. The server accepts up to 30 days. */
const OVERLAPS_S = [0, HOUR_S, 24 * HOUR_S, 7 * 24 * HOUR_S, 30 * 24 * HOUR_S] as const;
const TIMEOUT_MAX_S = 120;
const BUFFER_MAX_DAYS = 365;

function Callbacks({ channel, disabled }: { channel: ChannelOf<"api">; disabled: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const change = useChannelChange();
  const [overlapS, setOverlapS] = useState<number>(24 * HOUR_S);
  const { webhookSecret, previousWebhookSecretUntil: until } = channel.config;
  const isSet = webhookSecret !== null;
  async function set(secret: string | null) {
    const overlap = secret !== null && isSet ? { overlapSeconds: overlapS } : {};
    await change("api", { config: { webhookSecret: secret, ...overlap } });
  }
  return (
    <Section title={t("api.callbacks")} text={t("api.callbacksText")}>
      <SecretControl
        name={t("api.secret")}
        isSet={isSet}
        disabled={disabled}
        make={makeWebhookSecret}
        set={set}
        removeText={t("api.secretRemove")}
      >
        <SelectField
          label={t("api.overlap")}
          hidesLabel
          value={String(overlapS)}
          disabled={disabled}
          onChange={(value) => setOverlapS(Number(value))}
          options={OVERLAPS_S.map((seconds) => ({
            value: String(seconds),
            label:
              seconds === 0 ? t("api.overlapNone") : t("api.overlapFor", { time: texts.duration(seconds * 1_000) }),
          }))}
        />
      </SecretControl>
      {until !== null && Date.parse(until) > Date.now() && (
        <p className="mt-2 text-sm text-muted">{t("api.overlapUntil", { time: texts.dateTime(until) })}</p>
      )}
      {!isSet && (
        <div className="mt-3">
          <Notice>{t("api.noSecret")}</Notice>
        </div>
      )}
    </Section>
  );
}

/** An example call with curl and with the client library, and a test that it arrives. */
function TryApi({ apiKey, address }: { apiKey: string | null; address: ReturnType<typeof useAddress> }) {
  const { t } = useTexts();
  const { url } = address;
  const shownKey = apiKey ?? KEY_PLACEHOLDER;
  const question = t("api.question");
  const calls = [
    { value: "curl", label: "curl", text: curlCall(url, shownKey, question) },
    { value: "client", label: "JavaScript", text: clientCall(url, shownKey, question) },
  ];
  return (
    <ArrivalTest channelId="api" text={t("api.tryText")}>
      <Tabs.Root defaultValue="curl">
        <TabList label={t("api.tryText")} tabs={calls} />
        {calls.map(({ value, label, text }) => (
          <Tabs.Content key={value} value={value}>
            <CopyBox label={label} text={text} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
      <p className="mt-2 text-xs text-muted [&_a]:text-accent [&_a]:underline">
        {t(apiKey === null ? "api.needsKey" : "api.hasKey")}{" "}
        <OutLink href={`${url}/api/v1/docs`}>{t("api.reference")}</OutLink>
      </p>
      <AddressField address={address} />
    </ArrivalTest>
  );
}

/** The HTTP API: example calls, its keys, and its settings. */
export function HttpApiPart({ channel }: { channel: ChannelOf<"api"> }) {
  const { t } = useTexts();
  const project = useProject();
  const form = useChannelForm(channel);
  const address = useAddress("api");
  const [key, setKey] = useState<string | null>(null);
  const { shown, set, field, isDisabled } = form;
  return (
    <div className="flex flex-col gap-4">
      <TryApi apiKey={key} address={address} />
      <KeysSection
        text={t("api.keysText")}
        suggestedName={t("api.keyName", { project })}
        rights={RIGHTS}
        onMade={setKey}
      />
      <Callbacks channel={channel} disabled={isDisabled} />
      <Section title={t("api.settings")}>
        <div className="flex flex-col gap-4">
          <ChoiceGroup
            label={t("api.reach")}
            options={[
              { value: "127.0.0.1", label: t("api.reachLocal"), hint: t("api.reachLocalHint") },
              { value: "0.0.0.0", label: t("api.reachNetwork"), hint: t("api.reachNetworkHint") },
            ]}
            hint={t("api.reachHint")}
            {...field("bindHost")}
          />
          {shown.bindHost === "0.0.0.0" && <Notice variant="warn">{t("api.firewall")}</Notice>}
          <div className="grid gap-4 sm:grid-cols-2">
            <Field
              label={t("api.timeout")}
              hint={t("api.timeoutHint", { max: TIMEOUT_MAX_S })}
              type="number"
              min={0.001}
              max={TIMEOUT_MAX_S}
              step="any"
              inputMode="decimal"
              {...field("timeoutMs")}
              value={shown.timeoutMs / 1_000}
              onChange={(value) => set("timeoutMs", Math.round(Number(value) * 1_000))}
            />
            <Field
              label={t("api.bufferDays")}
              hint={t("api.bufferDaysHint")}
              type="number"
              min={1}
              max={BUFFER_MAX_DAYS}
              {...field("bufferDays")}
              onChange={(value) => set("bufferDays", wholeNumber(value))}
            />
          </div>
        </div>
      </Section>
      <SaveBar form={form} />
    </div>
  );
}
