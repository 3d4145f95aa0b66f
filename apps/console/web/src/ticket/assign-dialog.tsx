import { UserX } from "lucide-react";
import type { TicketDetail } from "@svc/contracts";
import { usePeople } from "../app/use-names.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Avatar } from "../ui/avatar.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { PickList } from "../ui/pick-list.tsx";

const NOBODY = "nobody";

/** Gives the ticket to somebody, or back. */
export default function AssignDialog({
  ticket,
  onClose,
  onAssign,
}: {
  ticket: TicketDetail;
  onClose: () => void;
  onAssign: (assignee: string | null) => void;
}) {
  const { t } = useTexts();
  const { people } = usePeople();
  const nobody = {
    id: NOBODY,
    words: t("action.unassign"),
    view: (
      <>
        <UserX aria-hidden className="size-4 text-muted" />
        {t("action.unassign")}
      </>
    ),
  };
  return (
    <Dialog title={t("action.assign")} width="small" onClose={onClose}>
      <PickList
        label={t("action.assign")}
        empty={t("people.none")}
        onPick={(id) => {
          onClose();
          onAssign(id === NOBODY ? null : id);
        }}
        items={[
          ...people
            .filter(({ actor, mayWrite }) => mayWrite && actor !== ticket.assignee)
            .map(({ actor, isMe, name }) => ({
              id: actor,
              words: name,
              view: (
                <>
                  <Avatar name={name} size="small" />
                  <span className="truncate">{isMe ? t("people.me", { name }) : name}</span>
                </>
              ),
            })),
          ...(ticket.assignee === null ? [] : [nobody]),
        ]}
      />
    </Dialog>
  );
}
