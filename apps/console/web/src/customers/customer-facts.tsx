import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";
import type { CustomerDetail, CustomerItem, CustomerNote, TicketItem } from "@svc/contracts";
import { FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { StateMark } from "../inbox/ticket-marks.tsx";
import { usePeople, useProject, useRights, useServices, useSession } from "../session/services.ts";
import { Ago, useNow } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { TextArea } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";

/** Returns a function that refetches a changed customer wherever it is shown. */
export function useRefresh() {
  const { queryClient } = useServices();
  return () => {
    for (const key of ["customer", "customers", "tickets", "ticket"]) {
      void queryClient.invalidateQueries({ queryKey: [key] });
    }
  };
}

/**
 * Returns the display name of a customer: name, email address or external ID, whichever is known first; otherwise the
 * friendly name.
 */
export const displayName = ({ name, email, externalId, alias }: CustomerItem): string =>
  name ?? email ?? externalId ?? alias;

/** A name and a value in a description list. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-baseline gap-2 py-1">
      <dt className="text-xs wrap-anywhere text-muted">{label}</dt>
      <dd dir="auto" className="min-w-0 text-sm wrap-anywhere">
        {children}
      </dd>
    </div>
  );
}

/** The time of day in a time zone; nothing if this browser does not support the zone. */
function LocalTime({ timeZone }: { timeZone: string }) {
  const { language } = useTexts();
  const nowMs = useNow();
  try {
    const time = new Intl.DateTimeFormat(language, { timeStyle: "short", timeZone }).format(nowMs);
    return <span title={timeZone}>{time}</span>;
  } catch {
    return timeZone;
  }
}

/** The data of a customer besides name, address and IDs. */
export function CustomerFactRows({ customer }: { customer: CustomerItem }) {
  const { languageName, t } = useTexts();
  const { phone, language, timeZone, attributes, firstSeenAt, lastSeenAt, unsubscribedAt } = customer;
  return (
    <>
      {phone !== null && <Fact label={t("customer.phone")}>{phone}</Fact>}
      {language !== null && <Fact label={t("customer.language")}>{languageName(language)}</Fact>}
      {timeZone !== null && (
        <Fact label={t("customer.localTime")}>
          <LocalTime timeZone={timeZone} />
        </Fact>
      )}
      {Object.entries(attributes).map(([name, value]) => (
        <Fact key={name} label={name}>
          {String(value)}
        </Fact>
      ))}
      {unsubscribedAt !== null && (
        <Fact label={t("customer.emails")}>
          {t("customer.unsubscribed")} <Ago time={unsubscribedAt} as="past" />
        </Fact>
      )}
      <Fact label={t("customer.firstSeen")}>
        <Ago time={firstSeenAt} as="past" />
      </Fact>
      <Fact label={t("customer.lastSeen")}>
        <Ago time={lastSeenAt} as="past" />
      </Fact>
    </>
  );
}

/** Conversations with their state and age, each a link to its ticket. */
export function Conversations({ tickets }: { tickets: readonly TicketItem[] }) {
  const { t } = useTexts();
  const project = useProject();
  return (
    <ul>
      {tickets.map(({ id, subject, status, stage, createdAt }) => (
        <li key={id} className="flex items-center gap-2 py-1">
          <Link
            to="/$project/inbox/$view/$ticketId"
            params={{ project, view: "all", ticketId: id }}
            dir="auto"
            className="min-w-0 flex-1 truncate text-sm text-accent hover:underline"
          >
            {subject === "" ? t("ticket.noSubject") : subject}
          </Link>
          <StateMark ticket={{ status, stage }} />
          <Ago time={createdAt} className="w-12 shrink-0 text-right text-xs text-faint tabular-nums" />
        </li>
      ))}
    </ul>
  );
}

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

/** Returns a text that this browser keeps until it is empty, also when the page is left, and a function that sets it. */
function useKeptText(name: string): [string, (text: string) => void] {
  const { storage } = useServices();
  const { operator } = useSession();
  const key = `console.${name}.${operator.id}`;
  const [typed, setTyped] = useState<{ key: string; text: string } | null>(null);
  function set(text: string) {
    if (text === "") storage.removeItem(key);
    else storage.setItem(key, text);
    setTyped({ key, text });
  }
  return [typed?.key === key ? typed.text : (storage.getItem(key) ?? ""), set];
}

/** Notes of operators on a customer, oldest first, and a field for another one. */
export function CustomerNotes({ customer: { id, notes } }: { customer: CustomerDetail }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const refresh = useRefresh();
  const { error, isBusy, run, runAside } = useAction();
  const [text, setText] = useKeptText(`customer-note.${id}`);

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
