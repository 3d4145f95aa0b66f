import { useState } from "react";
import { putSignature } from "../api/session.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useSession } from "../session/services.ts";
import { TextArea } from "../ui/field.tsx";

/** Changes one's own signature. */
export function SignatureDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const { operator } = useSession();
  const [signature, setSignature] = useState(operator.signature);

  async function submit() {
    queryClient.setQueryData(["session"], await putSignature(connection, signature));
    onClose();
  }

  return (
    <FormDialog title={t("account.signature")} action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <TextArea
        label={t("account.signature")}
        hint={t("signature.hint")}
        maxLength={1_000}
        autoFocus
        value={signature}
        onChange={setSignature}
      />
    </FormDialog>
  );
}
