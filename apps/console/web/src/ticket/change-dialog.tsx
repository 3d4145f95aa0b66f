import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import type { TicketChange, TicketDetail, TicketPriority } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "../ui/form-text.ts";
import { Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { differenceOf, pickOf } from "./difference-of.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

const PRIORITIES = ["low", "normal", "high", "urgent"] as const satisfies readonly TicketPriority[];
/** TICKET_LIMITS of the contracts say the same; the server checks. */
const SUBJECT_MAX_CHARS = 200;

/** Changes subject, priority and tags: only what was changed here, and nothing of what somebody else has changed since. */
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
  const [began] = useState(ticket);
  /** The ticket as it was when the notice said what somebody else has changed; before that, as it began. */
  const [told, setTold] = useState(ticket);
  const [theirs, setTheirs] = useState<TicketChange>({});
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const valueOf = (name: string) => formText(form, name);
    const tags = valueOf("tags")
      .split(",")
      .map((tag) => tag.trim().replace(/^#/, ""))
      .filter((tag) => tag !== "");
    const written = { subject: valueOf("subject"), priority: valueOf("priority") as TicketPriority, tags };
    const change = differenceOf(began, written);
    if (Object.keys(change).length === 0) {
      onClose();
      return;
    }
    const overtaken = pickOf(differenceOf(told, ticket), change);
    if (Object.keys(overtaken).length > 0) {
      setTold(ticket);
      setTheirs(overtaken);
      return;
    }
    const isDone = await actions.change(change, {
      done: t("done.change"),
      undo: (after) => void actions.change(differenceOf(after, ticket), { version: after.version }),
    });
    if (isDone) onClose();
  }
  const overtaken = [
    ...(theirs.subject === undefined ? [] : [`${t("ticket.subject")}: ${theirs.subject}`]),
    ...(theirs.priority === undefined ? [] : [`${t("filter.priority")}: ${t(`priority.${theirs.priority}`)}`]),
    ...(theirs.tags === undefined ? [] : [`${t("ticket.tags")}: ${theirs.tags.join(", ")}`]),
  ];
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
        <div role="status" className="empty:hidden">
          {overtaken.length > 0 && (
            <Notice look="warn">{t("change.overtaken", { what: overtaken.join(" · ") })}</Notice>
          )}
        </div>
      </form>
    </Dialog>
  );
}
