import { useId, useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

/** REVIEW_LIMITS of the contracts say the same; the server checks. */
const REASON_MAX_CHARS = 2_000;

/** Ends what waits without an answer, and may say why. */
export default function RejectDialog({
  onClose,
  onReject,
}: {
  onClose: () => void;
  onReject: (reason?: string) => void;
}) {
  const { t } = useTexts();
  const id = useId();
  const [reason, setReason] = useState("");
  const submit = () => {
    onClose();
    onReject(reason.trim() === "" ? undefined : reason.trim());
  };
  return (
    <Dialog
      title={t("reject.title")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button look="danger" keys="mod+Enter" onClick={submit}>
            {t("action.reject")}
          </Button>
        </>
      }
    >
      <div className="p-4">
        <p className="mb-3 text-sm text-muted">{t("reject.text")}</p>
        <label htmlFor={id} className="mb-1 block text-sm font-medium">
          {t("reject.reason")}
        </label>
        <textarea
          id={id}
          autoFocus
          rows={3}
          maxLength={REASON_MAX_CHARS}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit()}
          className="block w-full resize-none rounded-md border border-edge bg-surface px-2.5 py-1.5 text-base"
        />
      </div>
    </Dialog>
  );
}
