import type { CannedReply, CannedReplyActions, TicketPriority } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { SelectField } from "../ui/field.tsx";
import { TagsField, readTags } from "../ticket/reply-actions.tsx";

/** The actions of a canned reply as form fields. */
export type ActionValues = {
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
