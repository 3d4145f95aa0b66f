import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { CopyBox } from "../ui/copy-box.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";

/** A secret that is shown this once, to be copied. */
export function ShownOnceDialog({
  title,
  warning,
  label,
  secret,
  onClose,
}: {
  title: string;
  warning: string;
  /** What the secret is. */
  label: string;
  secret: string;
  onClose: () => void;
}) {
  const { t } = useTexts();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          {t("apiKeys.kept")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <Notice look="warn">{warning}</Notice>
        <CopyBox label={label} text={secret} isWrapped />
      </div>
    </Dialog>
  );
}
