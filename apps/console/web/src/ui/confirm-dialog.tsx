import type { ReactNode } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  title,
  action,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** What the button says that does it. */
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTexts();
  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="p-4 text-sm">{children}</div>
    </Dialog>
  );
}
