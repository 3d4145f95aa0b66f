import type { CannedReply, ReplyActions } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useTagColor } from "../session/services.ts";
import { Badge, TagChip } from "../ui/badge.tsx";

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
