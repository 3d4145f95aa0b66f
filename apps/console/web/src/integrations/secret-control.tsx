import { useState } from "react";
import type { ReactNode } from "react";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";

const SECRET_BYTES = 32;

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Makes a webhook secret as Standard Webhooks writes them: `whsec_` and the base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => `whsec_${base64(randomBytes(SECRET_BYTES))}`;

/** Makes a secret of 32 random bytes, in hex. */
export const makeIdentitySecret = (): string =>
  [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const WIDGET_KEY_BYTES = 24;

/** Makes a key of the widget. It stands in pages, so it is no secret; it only has to be another one each time. */
export const makeWidgetKey = (): string =>
  `wk_${base64(randomBytes(WIDGET_KEY_BYTES)).replaceAll("+", "-").replaceAll("/", "_")}`;

/** A secret that the service keeps sealed: made here and shown this once, changed, or taken away. */
export function SecretControl({
  name,
  isSet,
  isDisabled,
  make,
  set,
  removeText,
  children,
}: {
  /** What the secret is called, as in "Webhook secret". */
  name: string;
  isSet: boolean;
  isDisabled: boolean;
  make: () => string;
  /** Saves it; null takes it away. Throws what went wrong. */
  set: (secret: string | null) => Promise<void>;
  /** What becomes of it when there is none any more. */
  removeText: string;
  /** What is chosen besides, before a new one is made. */
  children?: ReactNode;
}) {
  const { t } = useTexts();
  const [made, setMade] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function save(secret: string | null) {
    setBusy(true);
    setError(null);
    try {
      await set(secret);
      setMade(secret);
      setRemoving(false);
    } catch (cause) {
      setError(describeError(cause, t));
      setRemoving(false);
    } finally {
      setBusy(false);
    }
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
            <Button look="danger" disabled={isDisabled} onClick={() => setRemoving(true)}>
              {t("secret.remove")}
            </Button>
          )}
          <Button disabled={isDisabled} isBusy={isBusy} onClick={() => void save(make())}>
            {t(isSet ? "secret.change" : "secret.make")}
          </Button>
        </div>
      </div>
      {made !== null && (
        <div className="animate-appear flex flex-col gap-2">
          <Notice look="warn">{t("secret.once")}</Notice>
          <CopyBox label={name} text={made} isWrapped />
        </div>
      )}
      <p role="alert" className="text-sm text-bad empty:hidden">
        {error}
      </p>
      {isRemoving && (
        <ConfirmDialog
          title={t("secret.removeTitle", { name })}
          action={t("secret.remove")}
          isBusy={isBusy}
          onConfirm={() => void save(null)}
          onClose={() => setRemoving(false)}
        >
          {removeText}
        </ConfirmDialog>
      )}
    </div>
  );
}
