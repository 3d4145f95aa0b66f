import { useState } from "react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { PickList } from "../ui/choice-fields.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, formText } from "../ui/field.tsx";

const DAY_MS = 86_400_000;

/** Returns 9:00 of the day in this number of days, in the time zone of the browser. */
function morningAfter(days: number): Date {
  const morning = new Date();
  morning.setDate(morning.getDate() + days);
  morning.setHours(9, 0, 0, 0);
  return morning;
}

/** Returns the suggested ends of a snooze, the most frequent one first. Equal times, as on Sundays, occur once. */
function snoozeTimes() {
  const times = [
    { id: "tomorrow", at: morningAfter(1) },
    { id: "hours", at: new Date(Date.now() + DAY_MS / 8) },
    { id: "monday", at: morningAfter((8 - new Date().getDay()) % 7 || 7) },
    { id: "week", at: morningAfter(7) },
  ] as const;
  return times.filter(({ at }, index) => times.findIndex((other) => other.at.getTime() === at.getTime()) === index);
}

/** Returns a time as a `datetime-local` field writes it. */
const localTime = (at: Date) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Asks for another time in the future; that of the browser's time zone. */
function OtherTime({ onClose, onSnooze }: { onClose: () => void; onSnooze: (until: string) => void }) {
  const { t } = useTexts();
  const [isPast, setPast] = useState(false);
  function submit(form: FormData) {
    const until = new Date(formText(form, "until"));
    if (until.getTime() > Date.now()) onSnooze(until.toISOString());
    else setPast(true);
  }
  const title = t("action.snooze");
  return (
    <FormDialog title={title} width="small" action={title} onSubmit={submit} onClose={onClose}>
      <Field
        label={t("snooze.until")}
        name="until"
        type="datetime-local"
        required
        autoFocus
        defaultValue={localTime(morningAfter(1))}
        error={isPast ? t("snooze.past") : undefined}
        onChange={() => setPast(false)}
      />
    </FormDialog>
  );
}

/** Snoozes a ticket, or several, until a suggested time, another time, or the next message of the customer. */
export function SnoozeDialog({ onClose, onSnooze }: { onClose: () => void; onSnooze: (until: string | null) => void }) {
  const { dateTime, t } = useTexts();
  const [isCustom, setCustom] = useState(false);
  const snooze = (until: string | null) => {
    onClose();
    onSnooze(until);
  };
  if (isCustom) return <OtherTime onClose={onClose} onSnooze={snooze} />;
  const times = snoozeTimes();
  const row = (id: string, text: string, hint?: string) => ({
    id,
    words: text,
    view: (
      <>
        <span className="flex-1 truncate">{text}</span>
        {hint !== undefined && <span className="text-muted">{hint}</span>}
      </>
    ),
  });
  return (
    <Dialog title={t("action.snooze")} width="small" onClose={onClose}>
      <PickList
        label={t("action.snooze")}
        empty={t("people.none")}
        items={[
          ...times.map(({ at, id }) => row(id, t(`snooze.${id}`), dateTime(at.toISOString()))),
          row("reply", t("snooze.reply")),
          row("custom", t("snooze.custom")),
        ]}
        onPick={(id) => {
          if (id === "custom") setCustom(true);
          else snooze(times.find((time) => time.id === id)?.at.toISOString() ?? null);
        }}
      />
    </Dialog>
  );
}
