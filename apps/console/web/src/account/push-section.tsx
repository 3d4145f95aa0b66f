import { useQuery } from "@tanstack/react-query";
import type { NotificationSettings, PushAnswer } from "@svc/contracts";
import { findPushSubscription } from "../api/session.ts";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Section } from "../ui/page-frame.tsx";

const PATH = "/session/push";
const KINDS = ["assigned", "mentioned", "slaBreached", "needsReview"] as const;

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
    const { publicKey } = (await connection.send("GET", PATH)) as PushAnswer;
    const { pushManager } = await navigator.serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) };
    const subscription = await pushManager.subscribe(options);
    const { endpoint, keys } = subscription.toJSON();
    await connection.send("POST", PATH, { body: { endpoint, keys } });
    // Otherwise an open page would show the same notification again.
    preferences.set((now) => ({ ...now, hasNotifications: false }));
  }
  async function turnOff() {
    const subscription = await findPushSubscription(connection);
    if (subscription === null) return;
    await connection.send("DELETE", PATH, { body: { endpoint: subscription.endpoint } });
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
export function PushSection({ push, onChange }: { push: PushSettings; onChange: (push: PushSettings) => void }) {
  const { t } = useTexts();
  return (
    <Section title={t("notifications.push")} text={t("notifications.pushHint")}>
      <div className="flex flex-col gap-3">
        {isSupported() ? <DeviceSwitch /> : <p className="text-sm text-muted">{t("notifications.pushUnsupported")}</p>}
        {KINDS.map((kind) => (
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
