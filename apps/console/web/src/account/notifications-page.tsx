import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NotificationSettings, NotificationsAnswer, PushAnswer } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { LANGUAGES, useTexts } from "../i18n/texts.ts";
import type { Language } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { QueryView } from "../ui/notice.tsx";
import { findPushSubscription } from "../api/session.ts";

const PUSH_PATH = "/session/push";
const PUSH_KINDS = ["assigned", "mentioned", "slaBreached", "needsReview"] as const;

type PushSettings = NotificationSettings["push"];

const isSupported = () => "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

const bytesOf = (base64url: string) =>
  Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** Enables and disables push notifications of this browser. */
function DeviceSwitch() {
  const { t } = useTexts();
  const { connection, preferences, queryClient } = useServices();
  const { error, isBusy, run } = useAction();
  const query = useQuery({
    queryKey: ["push"],
    queryFn: async () => (await findPushSubscription(connection)) !== null,
    // No refetch during a subscription that the server does not know yet.
    staleTime: Infinity,
    // Another tab may have turned them off.
    refetchOnWindowFocus: isBusy ? false : "always",
  });
  const isOn = query.data === true;

  async function turnOn() {
    if ((await Notification.requestPermission()) !== "granted") throw new Error(t("notifications.pushDenied"));
    const { publicKey } = (await connection.send("GET", PUSH_PATH)) as PushAnswer;
    const { pushManager } = await navigator.serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) };
    const subscription = await pushManager.subscribe(options);
    const { endpoint, keys } = subscription.toJSON();
    await connection.send("POST", PUSH_PATH, { body: { endpoint, keys } });
    // Otherwise an open page would show the same notification again.
    preferences.set((now) => ({ ...now, hasNotifications: false }));
  }
  async function turnOff() {
    const subscription = await findPushSubscription(connection);
    if (subscription === null) return;
    await connection.send("DELETE", PUSH_PATH, { body: { endpoint: subscription.endpoint } });
    await subscription.unsubscribe();
  }
  async function toggle() {
    await (isOn ? turnOff() : turnOn());
    await queryClient.invalidateQueries({ queryKey: ["push"] });
  }

  return (
    <div className="flex flex-col gap-2">
      <div>
        <Button isBusy={isBusy || query.isPending} onClick={() => void run(toggle)}>
          {t(isOn ? "notifications.pushOff" : "notifications.pushOn")}
        </Button>
      </div>
      <FormError error={error} />
    </div>
  );
}

/** Settings for the signed-in operator's push notifications, and a switch for this browser. */
function PushSection({ push, onChange }: { push: PushSettings; onChange: (push: PushSettings) => void }) {
  const { t } = useTexts();
  return (
    <Section title={t("notifications.push")} text={t("notifications.pushHint")}>
      <div className="flex flex-col gap-3">
        {isSupported() ? <DeviceSwitch /> : <p className="text-sm text-muted">{t("notifications.pushUnsupported")}</p>}
        {PUSH_KINDS.map((kind) => (
          <CheckBox
            key={kind}
            label={t(`notifications.${kind}`)}
            isOn={push[kind]}
            onChange={(isOn) => onChange({ ...push, [kind]: isOn })}
          />
        ))}
        <CheckBox
          label={t("notifications.pushSubject")}
          hint={t("notifications.pushSubjectHint")}
          isOn={push.showsSubject}
          onChange={(showsSubject) => onChange({ ...push, showsSubject })}
        />
      </div>
    </Section>
  );
}

const PATH = "/session/notifications";

const notificationsQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["notifications"],
    queryFn: async ({ signal }) => (await connection.send("GET", PATH, { signal })) as NotificationsAnswer,
  });

/** Returns the time zones that this browser supports, and the current one. */
const zonesWith = (zone: string) =>
  [...new Set([zone, "UTC", ...Intl.supportedValuesOf("timeZone")])].map((value) => ({ value, label: value }));

const KINDS = ["assigned", "mentioned", "slaBreached", "needsReview", "digest"] as const;
/** Default when quiet hours are enabled. */
const NIGHT: [string, string] = ["20:00", "07:00"];

// oxlint-disable-next-line max-lines-per-function -- one form: a few lines for each of its fields
function NotificationsForm({ answer }: { answer: NotificationsAnswer }) {
  const { t, language } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const { error, isBusy, run } = useAction();
  const [settings, setSettings] = useState<NotificationSettings>({
    ...answer.item,
    // The default until the operator has chosen one.
    ...(!answer.isStored && {
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      language: language in LANGUAGES ? (language as Language) : "en",
    }),
  });
  const change = (part: Partial<NotificationSettings>) => setSettings((known) => ({ ...known, ...part }));
  const { quietHours } = settings;

  async function save() {
    const saved = (await connection.send("PUT", PATH, { body: settings })) as NotificationsAnswer;
    queryClient.setQueryData(["notifications"], saved);
    toasts.show({ kind: "done", text: t("notifications.saved") });
  }

  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void run(save);
      }}
    >
      {!answer.canSend && <p className="text-sm text-muted">{t("notifications.cannotSend")}</p>}
      <Section title={t("notifications.about")}>
        <div className="flex flex-col gap-3">
          {KINDS.map((kind) => (
            <CheckBox
              key={kind}
              label={t(`notifications.${kind}`)}
              {...((kind === "slaBreached" || kind === "needsReview") && { hint: t("notifications.ownHint") })}
              isOn={settings[kind]}
              onChange={(isOn) => change({ [kind]: isOn })}
            />
          ))}
          {settings.digest && (
            <Field
              type="time"
              required
              className="w-40"
              label={t("notifications.digestAt")}
              value={settings.digestAt}
              onChange={(digestAt) => change({ digestAt })}
            />
          )}
        </div>
      </Section>
      <PushSection push={settings.push} onChange={(push) => change({ push })} />
      <Section title={t("notifications.quiet")} text={t("notifications.quietHint")}>
        <div className="flex flex-col gap-3">
          <CheckBox
            label={t("notifications.quiet")}
            isOn={quietHours !== null}
            onChange={(isOn) => change({ quietHours: isOn ? NIGHT : null })}
          />
          {quietHours !== null && (
            <div className="flex gap-3">
              <Field
                type="time"
                required
                label={t("notifications.from")}
                value={quietHours[0]}
                onChange={(from) => change({ quietHours: [from, quietHours[1]] })}
              />
              <Field
                type="time"
                required
                label={t("notifications.to")}
                value={quietHours[1]}
                onChange={(to) => change({ quietHours: [quietHours[0], to] })}
              />
            </div>
          )}
          <SelectField
            className="max-w-xs"
            label={t("notifications.timeZone")}
            options={zonesWith(settings.timeZone)}
            value={settings.timeZone}
            onChange={(timeZone) => change({ timeZone })}
          />
          <SelectField
            className="max-w-xs"
            label={t("notifications.language")}
            options={Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Language, label }))}
            value={settings.language}
            onChange={(chosen) => change({ language: chosen })}
          />
        </div>
      </Section>
      <FormError error={error} />
      <div>
        <Button type="submit" variant="primary" isBusy={isBusy}>
          {t("ui.save")}
        </Button>
      </div>
    </form>
  );
}

/** Settings for the emails and push notifications of the signed-in operator. */
export function NotificationsPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const query = useQuery(notificationsQuery(connection));
  return (
    <PageFrame width="narrow" title={t("account.notifications")} text={t("notifications.text")}>
      <QueryView query={query} skeleton="h-96">
        {(answer) => <NotificationsForm answer={answer} />}
      </QueryView>
    </PageFrame>
  );
}
