import { useTexts } from "../i18n/use-texts.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";

/** Asks before a ticket is resolved whose customer still waits: a slip would leave them without an answer. */
export default function ResolveDialog({ onClose, onResolve }: { onClose: () => void; onResolve: () => void }) {
  const { t } = useTexts();
  const submit = () => {
    onClose();
    onResolve();
  };
  return (
    <ConfirmDialog title={t("resolve.title")} action={t("resolve.confirm")} onClose={onClose} onConfirm={submit}>
      {t("resolve.text")}
    </ConfirmDialog>
  );
}
