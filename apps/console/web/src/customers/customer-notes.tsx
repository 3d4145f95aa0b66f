import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { CustomerDetail, CustomerNote } from "@svc/contracts";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useRights, useServices } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { TextArea } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { useRefresh } from "./customer-facts.tsx";

function NoteItem({ note, onDelete }: { note: CustomerNote; onDelete: (() => void) | null }) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const name = nameOf(note.author);
  return (
    <li className="rounded-lg border border-warn/25 bg-warn-soft px-3 py-2 text-sm">
      <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
        <bdi className="min-w-0 truncate font-medium text-ink">{name}</bdi>
        <Ago time={note.at} as="past" className="flex-1" />
        {onDelete !== null && (
          <IconButton
            icon={Trash2}
            size="small"
            label={t("customer.deleteNote")}
            className="-my-1"
            onClick={onDelete}
          />
        )}
      </p>
      <Markdown text={note.text} />
    </li>
  );
}

/** Notes of operators on a customer, oldest first, and a field for another one. */
export function CustomerNotes({ customer: { id, notes } }: { customer: CustomerDetail }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const refresh = useRefresh();
  const { error, isBusy, run, runAside } = useAction();
  const [text, setText] = useState("");

  async function add() {
    await connection.call("addCustomerNote", project, { params: { id }, body: { text } });
    setText("");
    refresh();
  }
  async function remove(noteId: string) {
    await connection.call("deleteCustomerNote", project, { params: { id, noteId } });
    refresh();
  }
  return (
    <div className="flex flex-col gap-2">
      {notes.length > 0 && (
        <ul className="flex flex-col gap-2">
          {notes.map((note) => (
            <NoteItem
              key={note.id}
              note={note}
              onDelete={mayWrite ? () => void runAside(() => remove(note.id)) : null}
            />
          ))}
        </ul>
      )}
      {mayWrite && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void run(add);
          }}
          className="flex flex-col items-start gap-2"
        >
          <TextArea
            label={t("compose.note")}
            hidesLabel
            rows={2}
            maxLength={5_000}
            placeholder={t("customer.noteHint")}
            value={text}
            onChange={setText}
            className="w-full"
          />
          {text.trim() !== "" && (
            <Button type="submit" size="small" isBusy={isBusy}>
              {t("compose.addNote")}
            </Button>
          )}
          <FormError error={error} />
        </form>
      )}
    </div>
  );
}
