import { useState } from "react";
import type { CannedReply, ReplyActions } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useTagColor, useTags } from "../session/services.ts";
import { Badge, TagChip } from "../ui/badge.tsx";
import { Field } from "../ui/field.tsx";

/** Parses tags separated by commas. */
export const readTags = (typed: string): string[] =>
  typed
    .split(",")
    .map((tag) => tag.trim().replace(/^#/, ""))
    .filter((tag) => tag !== "");

/** Tags as text, and below it the managed ones, each with a button that adds it. `onChange` receives the text. */
export function TagsField({
  label,
  name,
  before,
  autoFocus = false,
  onChange,
}: {
  label: string;
  name?: string;
  /** The initial tags. */
  before: readonly string[];
  autoFocus?: boolean;
  onChange?: (typed: string) => void;
}) {
  const { t } = useTexts();
  const managed = useTags();
  const [typed, setTyped] = useState(before.map((tag) => `${tag}, `).join(""));
  const chosen = readTags(typed);
  function write(text: string) {
    setTyped(text);
    onChange?.(text);
  }
  return (
    <div>
      <Field
        label={label}
        hint={t("ticket.tagsHint")}
        name={name}
        value={typed}
        data-autofocus={autoFocus ? "" : undefined}
        // The next tag is typed after the others.
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(typed.length, typed.length)}
        onChange={write}
      />
      <div role="group" aria-label={t("ticket.addTag")} className="mt-2 flex flex-wrap gap-1 empty:hidden">
        {managed
          .filter((tag) => !chosen.includes(tag.name))
          .map((tag) => (
            <button
              key={tag.id}
              type="button"
              title={tag.description}
              onClick={() => write([...chosen, tag.name].join(", "))}
              className="max-w-full rounded hover:opacity-80"
            >
              <TagChip name={tag.name} color={tag.color} />
            </button>
          ))}
      </div>
    </div>
  );
}

/** Changes to a ticket with a reply: as stored in a canned reply, or as sent with a reply. */
type Actions = CannedReply["actions"] & Pick<ReplyActions, "snooze">;

/** Returns whether these actions change anything besides what a reply itself changes. */
export const hasActions = ({ addTags = [], ...others }: Actions): boolean =>
  addTags.length > 0 || Object.values(others).some((value) => value !== undefined && value !== false);

/** The changes to a ticket with a reply, in a few words each. */
export function ActionChips({ actions }: { actions: Actions }) {
  const { dateTime, t } = useTexts();
  const { me, nameOf } = usePeople();
  const colorOf = useTagColor();
  const project = useProject();
  const { addTags = [], assignee, priority, resolves, snooze, snoozeHours } = actions;
  const until = snooze?.until ?? null;
  const name = assignee === "self" ? nameOf(me) : assignee;
  return (
    <>
      {addTags.map((tag) => (
        <TagChip key={tag} name={tag} color={colorOf(tag, project)} />
      ))}
      {priority !== undefined && (
        <Badge>
          {t("filter.priority")}: {t(`priority.${priority}`)}
        </Badge>
      )}
      {name === null && <Badge>{t("macro.unassign")}</Badge>}
      {typeof name === "string" && (
        <Badge>{t("macro.assign", { name: assignee === "self" ? name : nameOf(name) })}</Badge>
      )}
      {typeof snoozeHours === "number" && <Badge>{t("macro.snoozeHours", { n: snoozeHours })}</Badge>}
      {until !== null && <Badge>{t("macro.snoozeUntil", { time: dateTime(until) })}</Badge>}
      {(snoozeHours === null || snooze?.until === null) && <Badge>{t("macro.snoozeReply")}</Badge>}
      {resolves === true && <Badge>{t("macro.resolve")}</Badge>}
    </>
  );
}
