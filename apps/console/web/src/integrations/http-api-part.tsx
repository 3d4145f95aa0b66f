import { Tabs } from "radix-ui";
import { useState } from "react";
import type { ChannelOf } from "../api/channels.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { ChoiceGroup, TabList } from "../ui/choice-fields.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { AddressField, ArrivalTest } from "./channel-state.tsx";
import type { KeyRight } from "./key-dialog.tsx";
import { KeysSection } from "./keys-section.tsx";
import { SaveBar } from "./save-bar.tsx";
import { makeWebhookSecret, SecretControl } from "./secret-control.tsx";
import { wholeNumber } from "./settings-draft.ts";
import { KEY_PLACE, clientCall, curlCall } from "./snippets.ts";
import { useAddress } from "./use-address.ts";
import { useChannelChange, useSettingsForm } from "./use-channel.ts";

const RIGHTS: readonly KeyRight[] = [
  { id: "send", text: "right.send", scopes: ["messages:write"], isUsual: true },
  { id: "collect", text: "right.collect", scopes: ["messages:read"], isUsual: true },
  { id: "tickets", text: "right.tickets", scopes: ["tickets:read"], isUsual: false },
  { id: "knowledge", text: "right.knowledge", scopes: ["kb:read", "kb:write"], isUsual: false },
  { id: "agents", text: "right.agents", scopes: ["agents:read", "agents:execute"], isUsual: false },
  { id: "deliveries", text: "right.deliveries", scopes: ["webhooks:read", "webhooks:write"], isUsual: false },
];

const HOUR_S = 3_600;
/** How long the secret before may sign beside a new one. The server takes up to 30 days. */
const OVERLAPS_S = [0, HOUR_S, 24 * HOUR_S, 7 * 24 * HOUR_S, 30 * 24 * HOUR_S] as const;
const TIMEOUT_MAX_S = 120;
const BUFFER_MAX_DAYS = 365;

function Callbacks({ channel, isDisabled }: { channel: ChannelOf<"api">; isDisabled: boolean }) {
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
        isDisabled={isDisabled}
        make={makeWebhookSecret}
        set={set}
        removeText={t("api.secretRemove")}
      >
        <SelectField
          label={t("api.overlap")}
          hidesLabel
          value={String(overlapS)}
          disabled={isDisabled}
          onChange={({ currentTarget }) => setOverlapS(Number(currentTarget.value))}
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

/** The HTTP API: how it is called, its keys, and its settings. */
export function HttpApiPart({ channel }: { channel: ChannelOf<"api"> }) {
  const { t } = useTexts();
  const mayDo = useRights();
  const project = useProject();
  const isAdministrator = mayDo("admin:*");
  const form = useSettingsForm(channel, isAdministrator);
  const address = useAddress("api");
  const { url } = address;
  const [key, setKey] = useState<string | null>(null);
  const { shown, set, errorOf, isDisabled } = form;
  const question = t("api.question");
  const shownKey = key ?? KEY_PLACE;
  return (
    <div className="flex flex-col gap-4">
      <ArrivalTest channelId="api" text={t("api.tryText")}>
        <Tabs.Root defaultValue="curl">
          <TabList
            label={t("api.tryText")}
            tabs={[
              { value: "curl", label: "curl" },
              { value: "client", label: "JavaScript" },
            ]}
          />
          <Tabs.Content value="curl">
            <CopyBox label="curl" text={curlCall(url, shownKey, question)} />
          </Tabs.Content>
          <Tabs.Content value="client">
            <CopyBox label="JavaScript" text={clientCall(url, shownKey, question)} />
          </Tabs.Content>
        </Tabs.Root>
        <p className="mt-2 text-xs text-muted [&_a]:text-accent [&_a]:underline">
          {key === null ? t("api.needsKey") : t("api.hasKey")}{" "}
          <OutLink href={`${url}/api/v1/docs`}>{t("api.reference")}</OutLink>
        </p>
        <AddressField address={address} />
      </ArrivalTest>
      <KeysSection
        text={t("api.keysText")}
        suggestedName={t("api.keyName", { project })}
        rights={RIGHTS}
        onMade={setKey}
      />
      <Callbacks channel={channel} isDisabled={isDisabled} />
      <Section title={t("api.settings")}>
        <div className="flex flex-col gap-4">
          <ChoiceGroup
            label={t("api.reach")}
            value={shown.bindHost}
            isDisabled={isDisabled}
            onChange={(host) => set("bindHost", host)}
            options={[
              { value: "127.0.0.1", label: t("api.reachLocal"), hint: t("api.reachLocalHint") },
              { value: "0.0.0.0", label: t("api.reachNetwork"), hint: t("api.reachNetworkHint") },
            ]}
            hint={t("api.reachHint")}
          />
          {shown.bindHost === "0.0.0.0" && <Notice look="warn">{t("api.firewall")}</Notice>}
          <div className="grid gap-4 sm:grid-cols-2">
            <Field
              label={t("api.timeout")}
              hint={t("api.timeoutHint", { max: TIMEOUT_MAX_S })}
              error={errorOf("timeoutMs")}
              type="number"
              min={0.001}
              max={TIMEOUT_MAX_S}
              step="any"
              inputMode="decimal"
              disabled={isDisabled}
              value={shown.timeoutMs / 1_000}
              onChange={({ currentTarget }) => set("timeoutMs", Math.round(Number(currentTarget.value) * 1_000))}
            />
            <Field
              label={t("api.bufferDays")}
              hint={t("api.bufferDaysHint")}
              error={errorOf("bufferDays")}
              type="number"
              min={1}
              max={BUFFER_MAX_DAYS}
              disabled={isDisabled}
              value={shown.bufferDays}
              onChange={({ currentTarget }) => set("bufferDays", wholeNumber(currentTarget.value))}
            />
          </div>
        </div>
      </Section>
      <SaveBar form={form} />
    </div>
  );
}
