import { useState } from "react";
import { putProfile, changePassword } from "../api/session.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useSession } from "../session/services.ts";
import { Field, TextArea, formText } from "../ui/field.tsx";

/** Edits the signed-in operator's public profile. */
export function ProfileDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const { operator } = useSession();
  const [publicName, setPublicName] = useState(operator.publicName);
  const [picture, setPicture] = useState(operator.picture);
  const [signature, setSignature] = useState(operator.signature);

  async function submit() {
    queryClient.setQueryData(["session"], await putProfile(connection, { publicName, picture, signature }));
    onClose();
  }

  return (
    <FormDialog title={t("account.profile")} action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <Field
        label={t("profile.name")}
        hint={t("profile.nameHint")}
        maxLength={60}
        autoFocus
        value={publicName}
        onChange={setPublicName}
      />
      <Field
        label={t("profile.picture")}
        hint={t("profile.pictureHint")}
        maxLength={500}
        placeholder="/team/anna.jpg"
        spellCheck={false}
        value={picture}
        onChange={(path) => setPicture(path.trim())}
      />
      <TextArea
        label={t("profile.signature")}
        hint={t("profile.signatureHint")}
        maxLength={1_000}
        value={signature}
        onChange={setSignature}
      />
    </FormDialog>
  );
}

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
