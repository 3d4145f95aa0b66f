import { useState } from "react";
import type { ComponentProps, ReactNode } from "react";
import { CopyBox } from "../forms/copy-box.tsx";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";

const SECRET_BYTES = 32;

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Generates a webhook secret in the format of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => `whsec_${base64(randomBytes(SECRET_BYTES))}`;

/** Generates a secret of 32 random bytes, in hex. */
export const makeIdentitySecret = (): string =>
  [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const WIDGET_KEY_BYTES = 24;

/** Generates a key of the widget. It is in the source of pages, so it is not a secret; it only has to be unique. */
export const makeWidgetKey = (): string =>
  `wk_${base64(randomBytes(WIDGET_KEY_BYTES)).replaceAll("+", "-").replaceAll("/", "_")}`;

/** Asks before a secret is removed. */
export function RemoveSecretDialog({
  name,
  ...rest
}: { name: string } & Pick<ComponentProps<typeof ConfirmDialog>, "onConfirm" | "onClose" | "children">) {
  const { t } = useTexts();
  return <ConfirmDialog title={t("secret.removeTitle", { name })} action={t("secret.remove")} {...rest} />;
}

/** A secret that the service stores encrypted: it is created here and shown once, changed, or removed. */
export function SecretControl({
  name,
  isSet,
  disabled,
  make,
  set,
  removeText,
  children,
}: {
  /** Name of the secret, such as "Webhook secret". */
  name: string;
  isSet: boolean;
  disabled: boolean;
  make: () => string;
  /** Saves it; null removes it. */
  set: (secret: string | null) => Promise<void>;
  /** Consequence of its removal. */
  removeText: string;
  /** Fields for the change of a secret. */
  children?: ReactNode;
}) {
  const { t } = useTexts();
  const [made, setMade] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const { error, isBusy, run } = useAction();

  async function save(secret: string | null) {
    if (await run(() => set(secret))) setMade(secret);
    setRemoving(false);
  }

  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
        <p className="flex h-8 items-center gap-2 text-sm font-medium">
          {name} <Badge tone={isSet ? "ok" : "plain"}>{t(isSet ? "secret.set" : "secret.none")}</Badge>
        </p>
        {isSet && children}
        <div className="ml-auto flex gap-2">
          {isSet && (
            <Button variant="danger" disabled={disabled} onClick={() => setRemoving(true)}>
              {t("secret.remove")}
            </Button>
          )}
          <Button disabled={disabled} isBusy={isBusy} onClick={() => void save(make())}>
            {t(isSet ? "secret.change" : "secret.make")}
          </Button>
        </div>
      </div>
      {made !== null && (
        <div className="animate-appear flex flex-col gap-2">
          <Notice variant="warn">{t("secret.once")}</Notice>
          <CopyBox label={name} text={made} isWrapped />
        </div>
      )}
      <FormError error={error} />
      {isRemoving && (
        <RemoveSecretDialog name={name} onConfirm={() => save(null)} onClose={() => setRemoving(false)}>
          {removeText}
        </RemoveSecretDialog>
      )}
    </div>
  );
}
