import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextArea } from "../ui/text-area.tsx";

/** Asks what a new agent is called, and what it is for. */
export function NewAgentDialog({
  make,
  onClose,
}: {
  /** Throws what went wrong. */
  make: (input: { name: string; description: string }) => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const formId = useId();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await make({ name: name.trim(), description: description.trim() });
    } catch (cause) {
      setFault(describeFault(cause, t));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={t("agents.make")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy}>
            {t("agents.makeNow")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4 p-4">
        {fault !== null && <Notice look="bad">{fault}</Notice>}
        <Field
          label={t("agents.name")}
          value={name}
          maxLength={200}
          required
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextArea
          label={t("agents.description")}
          hint={t("agents.descriptionHint")}
          rows={3}
          value={description}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}
