import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CannedReply, RenderedReply, TicketDetail } from "@svc/contracts";
import { readAll } from "../api/connection.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { Dialog } from "../ui/dialog.tsx";
import { QueryView } from "../ui/notice.tsx";
import { PickList } from "../ui/choice-fields.tsx";
import { ActionChips } from "./reply-actions.tsx";
import EMOJI from "./emoji.json";

/** Picks a canned reply, filled in for this ticket. */
export function CannedPicker({
  ticket,
  onClose,
  onPick,
}: {
  ticket: TicketDetail;
  onClose: () => void;
  onPick: (reply: RenderedReply) => void;
}) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const list = useQuery({
    queryKey: ["canned-replies", project],
    queryFn: ({ signal }) => readAll((query) => connection.call("listCannedReplies", project, { query, signal })),
  });
  async function pick(id: string) {
    try {
      const input = { params: { id }, body: { ticketId: ticket.id } };
      const { item } = await connection.call("renderCannedReply", ticket.project, input);
      onClose();
      onPick(item);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
  }
  const link = (
    <Link
      to="/$project/administration/$section"
      params={{ project: ticket.project, section: "canned-replies" }}
      className="text-sm text-accent hover:underline"
    >
      {t("compose.writeCanned")}
    </Link>
  );
  return (
    <Dialog title={t("compose.canned")} onClose={onClose} footer={link}>
      <QueryView query={list} skeleton="m-4 h-40">
        {(items) => (
          <PickList
            label={t("compose.canned")}
            empty={t("compose.noCanned")}
            onPick={(id) => void pick(id)}
            items={items.map(itemOf)}
          />
        )}
      </QueryView>
    </Dialog>
  );
}

/** A canned reply as an item of the list. */
const itemOf = ({ actions, id, folder, name, tags, text }: CannedReply) => ({
  id,
  words: `${name} ${folder ?? ""} ${tags.join(" ")} ${text.slice(0, 200)}`,
  view: (
    <span className="min-w-0">
      <span className="flex items-baseline gap-2">
        <span className="truncate font-medium">{name}</span>
        {folder !== null && <span className="truncate text-xs text-muted">{folder}</span>}
        <span className="flex gap-1 empty:hidden">
          <ActionChips actions={actions} />
        </span>
      </span>
      <span dir="auto" className="block truncate text-xs text-muted">
        {text}
      </span>
    </span>
  ),
});

/** Picks one of the emoji that support teams use most; others come from the keyboard of the system. */
export function EmojiPicker({ onClose, onPick }: { onClose: () => void; onPick: (sign: string) => void }) {
  const { language, t } = useTexts();
  const items = EMOJI.map(({ sign, de, en }) => {
    const words = language.startsWith("de") ? de : en;
    return {
      id: sign,
      words,
      view: (
        <>
          <span aria-hidden className="text-lg leading-none">
            {sign}
          </span>
          <span className="truncate text-muted">{words}</span>
        </>
      ),
    };
  });
  return (
    <Dialog title={t("compose.emoji")} width="small" onClose={onClose}>
      <PickList
        label={t("compose.emoji")}
        empty={t("people.none")}
        items={items}
        onPick={(sign) => {
          onClose();
          onPick(sign);
        }}
      />
    </Dialog>
  );
}
