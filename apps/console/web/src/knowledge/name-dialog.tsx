import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";

/** Asks for the name of a knowledge base, new or not. */
export function NameDialog({
  title,
  action,
  first = "",
  save,
  onClose,
}: {
  title: string;
  action: string;
  first?: string;
  /** Throws what went wrong. */
  save: (name: string) => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const formId = useId();
  const [name, setName] = useState(first);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    try {
      await save(name.trim());
      onClose();
    } catch (cause) {
      setFault(describeFault(cause, t));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="p-4">
        <Field
          label={t("knowledge.name")}
          hint={t("knowledge.nameHint")}
          fault={fault}
          value={name}
          maxLength={200}
          required
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}
