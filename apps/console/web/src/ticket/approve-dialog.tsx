import type { TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { shownBelow } from "./describe-reason.ts";

/** Asks before a draft is sent that the agent would not send by itself. */
export default function ApproveDialog({
  ticket: { draft },
  threshold,
  onClose,
  onApprove,
}: {
  ticket: TicketDetail;
  /** The threshold of the agent. */
  threshold: number;
  onClose: () => void;
  onApprove: () => void;
}) {
  const { percent, t } = useTexts();
  const submit = () => {
    onClose();
    onApprove();
  };
  return (
    <ConfirmDialog title={t("approve.title")} action={t("action.approve")} onClose={onClose} onConfirm={submit}>
      <p className="mb-2">
        {t("approve.text", {
          share: percent(shownBelow(draft?.confidence ?? 0, threshold)),
          threshold: percent(threshold),
        })}
      </p>
      <blockquote dir="auto" className="line-clamp-4 border-l-2 border-line pl-3 text-muted">
        {draft?.text}
      </blockquote>
    </ConfirmDialog>
  );
}
