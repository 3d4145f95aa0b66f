import { ServiceError } from "@svc/client";
import type { TicketItem } from "@svc/contracts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { TagsField, readTags } from "../ticket/reply-actions.tsx";
import { SnoozeDialog } from "../ticket/snooze-dialog.tsx";
import { Avatar } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog, Dialog } from "../ui/dialog.tsx";
import { formText } from "../ui/field.tsx";
import { PickList } from "../ui/choice-fields.tsx";
import type { BulkChange } from "./bulk-changes.ts";
import { PRIORITIES, severityOf } from "./ticket-marks.tsx";

/** Tickets that were not changed, with the error of each. */
export type BulkErrors = readonly { item: TicketItem; error: unknown }[];

/** A question or message about many tickets. */
export type BulkDialog =
  | { kind: "assign" | "tag" | "priority" | "snooze" }
  | { kind: "resolve"; count: number; waiting: number }
  | { kind: "errors"; errors: BulkErrors };

interface Choosing {
  onClose: () => void;
  onChoose: (change: BulkChange) => void;
}

/** Asks for the operator to whom the tickets are assigned. */
function AssignAll({ onClose, onChoose }: Choosing) {
  const { t } = useTexts();
  const { people } = usePeople();
  return (
    <Dialog title={t("bulk.assign")} width="small" onClose={onClose}>
      <PickList
        label={t("bulk.assign")}
        empty={t("people.none")}
        onPick={(assignee) => {
          onClose();
          onChoose({ kind: "assign", assignee });
        }}
        items={people
          .filter(({ mayWrite }) => mayWrite)
          .map(({ actor, isMe, name }) => ({
            id: actor,
            words: name,
            view: (
              <>
                <Avatar name={name} size="small" />
                <span className="truncate">{isMe ? t("people.me", { name }) : name}</span>
              </>
            ),
          }))}
      />
    </Dialog>
  );
}

/** Asks for tags that are added to the tickets. */
function TagAll({ onClose, onChoose }: Choosing) {
  const { t } = useTexts();
  function submit(form: FormData) {
    const tags = readTags(formText(form, "tags"));
    onClose();
    if (tags.length > 0) onChoose({ kind: "tag", tags });
  }
  return (
    <FormDialog title={t("bulk.tag")} width="small" action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <TagsField label={t("ticket.tags")} name="tags" before={[]} autoFocus />
    </FormDialog>
  );
}

/** Asks for the priority of the tickets. */
function PrioritizeAll({ onClose, onChoose }: Choosing) {
  const { t } = useTexts();
  return (
    <Dialog title={t("bulk.priority")} width="small" onClose={onClose}>
      <PickList
        label={t("bulk.priority")}
        empty={t("people.none")}
        items={PRIORITIES.toReversed().map((id) => ({ id, words: t(`priority.${id}`), view: t(`priority.${id}`) }))}
        onPick={(id) => {
          onClose();
          const priority = severityOf(id);
          if (priority !== null) onChoose({ kind: "priority", priority });
        }}
      />
    </Dialog>
  );
}

/** Asks until when the tickets are snoozed. */
function SnoozeAll({ onClose, onChoose }: Choosing) {
  return <SnoozeDialog onClose={onClose} onSnooze={(until) => onChoose({ kind: "snooze", until })} />;
}

/** Asks before tickets are resolved whose customers still wait for an answer. */
function ResolveAll({ count, waiting, onClose, onChoose }: Choosing & { count: number; waiting: number }) {
  const { t } = useTexts();
  return (
    <ConfirmDialog
      title={t("resolve.title")}
      action={t("bulk.resolveConfirm", { n: count })}
      onClose={onClose}
      onConfirm={() => {
        onClose();
        onChoose({ kind: "resolve" });
      }}
    >
      {t("bulk.resolveText", { n: waiting, count })}
    </ConfirmDialog>
  );
}

/** Lists the tickets that were not changed, with the error of each. */
function ErrorList({ errors, onClose }: { errors: BulkErrors; onClose: () => void }) {
  const { t } = useTexts();
  const why = (error: unknown) =>
    error instanceof ServiceError && error.code === "version_conflict" ? t("bulk.changed") : describeError(error, t);
  return (
    <Dialog title={t("bulk.faults")} onClose={onClose} footer={<Button onClick={onClose}>{t("ui.close")}</Button>}>
      <ul className="max-h-[60vh] divide-y divide-line overflow-y-auto px-4">
        {errors.map(({ error, item }) => (
          <li key={item.id} className="py-2.5 text-sm">
            <p dir="auto" className="truncate font-medium">
              {item.subject === "" ? t("ticket.noSubject") : item.subject}
            </p>
            <p className="text-muted">{why(error)}</p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** A question or message about many tickets. */
export function BulkDialogs({ dialog, onClose, onChoose }: Choosing & { dialog: BulkDialog }) {
  if (dialog.kind === "errors") return <ErrorList errors={dialog.errors} onClose={onClose} />;
  if (dialog.kind === "resolve") return <ResolveAll {...dialog} onClose={onClose} onChoose={onChoose} />;
  const Asked = { assign: AssignAll, tag: TagAll, priority: PrioritizeAll, snooze: SnoozeAll }[dialog.kind];
  return <Asked onClose={onClose} onChoose={onChoose} />;
}
