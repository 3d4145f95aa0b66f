import { useId, useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea } from "../ui/text-area.tsx";

const REASON_MAX_CHARS = 2_000;

/** Asks why a proposed change is turned down, which may be left open. */
export function RejectDialog({
  title,
  onReject,
  onClose,
}: {
  title: string;
  onReject: (reason: string) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const formId = useId();
  const [reason, setReason] = useState("");
  return (
    <Dialog
      title={t("proposal.reject")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="danger">
            {t("proposal.reject")}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault();
          onReject(reason);
        }}
        className="flex flex-col gap-3 p-4"
      >
        <p className="text-sm font-medium wrap-anywhere">{title}</p>
        <TextArea
          label={t("proposal.reason")}
          hint={t("proposal.reasonHint")}
          rows={3}
          maxLength={REASON_MAX_CHARS}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}
