import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import { changePassword } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-error.ts";
import { Dialog } from "../ui/dialog.tsx";
import { formText, Field } from "../ui/field.tsx";

/** OPERATOR_LIMITS of the contracts say the same; the server checks. */
const PASSWORD_MIN_CHARS = 12;

/** Changes one's own password. Every other session of this person ends. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const formId = useId();
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const valueOf = (name: string) => formText(form, name);
    setBusy(true);
    setFault(null);
    try {
      const session = await changePassword(connection, valueOf("current"), valueOf("password"));
      queryClient.setQueryData(["session"], session);
      toasts.show({ kind: "done", text: t("password.done") });
      onClose();
    } catch (cause) {
      setFault(describeFault(cause, t));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={t("account.password")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy}>
            {t("password.submit")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5 p-4">
        <Field
          label={t("password.current")}
          name="current"
          type="password"
          autoComplete="current-password"
          required
          autoFocus
        />
        <Field
          label={t("password.new")}
          hint={t("link.passwordHint", { count: PASSWORD_MIN_CHARS })}
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={PASSWORD_MIN_CHARS}
          required
        />
        <p role="alert" className="text-sm text-bad empty:hidden">
          {fault}
        </p>
      </form>
    </Dialog>
  );
}
