import { useState } from "react";
import { putProfile } from "../api/session.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useSession } from "../session/services.ts";
import { Field, TextArea } from "../ui/field.tsx";

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
