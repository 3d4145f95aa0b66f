import { useId } from "react";
import type { SubmitEvent } from "react";
import type { TicketDetail, TicketPriority } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "../ui/form-text.ts";
import { Field, SelectField } from "../ui/field.tsx";
import type { TicketActions } from "./use-ticket-actions.ts";

const PRIORITIES = ["low", "normal", "high", "urgent"] as const satisfies readonly TicketPriority[];
/** TICKET_LIMITS of the contracts say the same; the server checks. */
const SUBJECT_MAX_CHARS = 200;

/** Changes subject, priority and tags. */
export default function ChangeDialog({
  ticket,
  onClose,
  actions,
}: {
  ticket: TicketDetail;
  onClose: () => void;
  actions: TicketActions;
}) {
  const { t } = useTexts();
  const formId = useId();
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const valueOf = (name: string) => formText(form, name);
    const tags = valueOf("tags")
      .split(",")
      .map((tag) => tag.trim().replace(/^#/, ""))
      .filter((tag) => tag !== "");
    const { priority, subject, tags: tagsBefore } = ticket;
    const isDone = await actions.change(
      { subject: valueOf("subject"), priority: valueOf("priority") as TicketPriority, tags },
      {
        done: t("done.change"),
        undo: () => void actions.change({ subject, priority, tags: tagsBefore }),
      },
    );
    if (isDone) onClose();
  }
  return (
    <Dialog
      title={t("action.change")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={actions.busy === "change"}>
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5 p-4">
        <Field
          label={t("ticket.subject")}
          name="subject"
          defaultValue={ticket.subject}
          maxLength={SUBJECT_MAX_CHARS}
          autoFocus
        />
        <SelectField
          label={t("filter.priority")}
          name="priority"
          defaultValue={ticket.priority}
          options={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
        />
        <Field label={t("ticket.tags")} hint={t("ticket.tagsHint")} name="tags" defaultValue={ticket.tags.join(", ")} />
      </form>
    </Dialog>
  );
}
