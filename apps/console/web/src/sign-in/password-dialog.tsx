import { changePassword } from "../api/session.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { formText, Field } from "../ui/field.tsx";

/** Copied from OPERATOR_LIMITS of the contracts; the server checks it. */
const PASSWORD_MIN_CHARS = 12;

/** Changes the signed-in operator's password. Their other sessions end. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();

  async function submit(form: FormData) {
    const session = await changePassword(connection, formText(form, "current"), formText(form, "password"));
    queryClient.setQueryData(["session"], session);
    toasts.show({ kind: "done", text: t("password.done") });
    onClose();
  }

  return (
    <FormDialog
      title={t("account.password")}
      width="small"
      action={t("password.submit")}
      onSubmit={submit}
      onClose={onClose}
    >
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
    </FormDialog>
  );
}
