import { useState } from "react";
import type { CannedReply, CannedReplyActions, ReplyActions, TicketPriority } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useTagColor, useTags } from "../session/services.ts";
import { Badge, TagChip } from "../ui/badge.tsx";
import { Field, SelectField } from "../ui/field.tsx";

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

/** The actions of a canned reply as form fields. */
type ActionValues = {
  addTags: string;
  /** Empty: unchanged. */
  priority: string;
  /** Empty: unchanged; `nobody`, `self`, or an operator. */
  assignee: string;
  /** Empty: nothing; `resolve`, `reply` for a snooze until the customer writes, or the hours of a snooze. */
  end: string;
};

const NOBODY = "nobody";
const PRIORITIES = ["low", "normal", "high", "urgent"] as const satisfies readonly TicketPriority[];
const SNOOZE_HOURS = ["4", "24", "72", "168"];

/** Returns the form fields of these actions. */
export function valuesOfActions({
  addTags = [],
  priority,
  assignee = "",
  snoozeHours,
  resolves,
}: CannedReply["actions"]): ActionValues {
  const snooze = snoozeHours === undefined ? "" : snoozeHours === null ? "reply" : String(snoozeHours);
  return {
    addTags: addTags.join(", "),
    priority: priority ?? "",
    assignee: assignee ?? NOBODY,
    end: resolves === true ? "resolve" : snooze,
  };
}

/** Parses the actions from their form fields. */
export function readActions({ addTags, priority, assignee, end }: ActionValues): CannedReplyActions {
  const tags = readTags(addTags);
  const known = PRIORITIES.find((one) => one === priority);
  return {
    ...(tags.length === 0 ? {} : { addTags: tags }),
    ...(known === undefined ? {} : { priority: known }),
    ...(assignee === "" ? {} : { assignee: assignee === NOBODY ? null : assignee }),
    ...(end === "resolve" ? { resolves: true } : {}),
    ...(end === "reply" ? { snoozeHours: null } : {}),
    ...(/^\d+$/.test(end) ? { snoozeHours: Number(end) } : {}),
  };
}

/** The changes of a ticket when the canned reply is sent. */
export function ActionFields({
  values,
  field,
}: {
  values: ActionValues;
  field: (name: keyof ActionValues) => { value: string; onChange: (value: string) => void };
}) {
  const { t } = useTexts();
  const { people } = usePeople();
  const asIs = { value: "", label: t("macro.asIs") };
  const operators = people
    .filter(({ mayWrite }) => mayWrite)
    .map(({ actor, isMe, name }) => ({ value: actor, label: isMe ? t("people.me", { name }) : name }));
  const isOther = !["", "self", NOBODY, ...operators.map(({ value }) => value)].includes(values.assignee);
  const hours = /^\d+$/.test(values.end) && !SNOOZE_HOURS.includes(values.end) ? [values.end] : [];
  return (
    <fieldset className="flex min-w-0 flex-col gap-4">
      <legend className="mb-1 text-sm font-semibold">{t("macro.title")}</legend>
      <p className="text-xs text-muted">{t("macro.hint")}</p>
      <TagsField label={t("macro.addTags")} before={readTags(values.addTags)} onChange={field("addTags").onChange} />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label={t("filter.priority")}
          options={[asIs, ...PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))]}
          {...field("priority")}
        />
        <SelectField
          label={t("filter.assignee")}
          options={[
            asIs,
            { value: "self", label: t("macro.self") },
            { value: NOBODY, label: t("filter.nobody") },
            ...operators,
            ...(isOther ? [{ value: values.assignee, label: t("people.someone") }] : []),
          ]}
          {...field("assignee")}
        />
        <SelectField
          label={t("macro.end")}
          options={[
            { value: "", label: t("macro.endNothing") },
            { value: "resolve", label: t("macro.resolve") },
            { value: "reply", label: t("macro.snoozeReply") },
            ...[...SNOOZE_HOURS, ...hours].map((value) => ({
              value,
              label: t("macro.snoozeHours", { n: Number(value) }),
            })),
          ]}
          {...field("end")}
        />
      </div>
    </fieldset>
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
