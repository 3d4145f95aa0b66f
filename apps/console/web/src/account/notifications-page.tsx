import { queryOptions, useQuery } from "@tanstack/react-query";
import type { NotificationSettings, NotificationsAnswer } from "@svc/contracts";
import { useState } from "react";
import type { Connection } from "../api/connection.ts";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { LANGUAGES, useTexts } from "../i18n/texts.ts";
import type { Language } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { PushSection } from "./push-section.tsx";
import { QueryView } from "../ui/query-view.tsx";

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
