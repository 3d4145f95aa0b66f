import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { PickList } from "../ui/pick-list.tsx";

const LIMIT = 200;

/** The texts that are sent again and again; the chosen one is filled in for this ticket. */
export function CannedPicker({
  ticket,
  onClose,
  onPick,
}: {
  ticket: TicketDetail;
  onClose: () => void;
  onPick: (text: string) => void;
}) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const list = useQuery({
    queryKey: ["canned-replies", project],
    queryFn: async ({ signal }) =>
      (await connection.call("listCannedReplies", project, { query: { limit: LIMIT }, signal })).items,
  });
  async function pick(id: string) {
    try {
      const input = { params: { id }, body: { ticketId: ticket.id } };
      const { item } = await connection.call("renderCannedReply", ticket.project, input);
      onClose();
      onPick(item.text);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
  }
  return (
    <Dialog
      title={t("compose.canned")}
      onClose={onClose}
      footer={
        <Link
          to="/$project/administration/$section"
          params={{ project: ticket.project, section: "canned-replies" }}
          className="text-sm text-accent hover:underline"
        >
          {t("compose.writeCanned")}
        </Link>
      }
    >
      {list.isPending && <Skeleton className="m-4 h-40" />}
      {list.isError && (
        <div className="p-4">
          <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
        </div>
      )}
      {list.isSuccess && (
        <PickList
          label={t("compose.canned")}
          empty={t("compose.noCanned")}
          onPick={(id) => void pick(id)}
          items={list.data.map(({ id, folder, name, tags, text }) => ({
            id,
            words: `${name} ${folder ?? ""} ${tags.join(" ")} ${text.slice(0, 200)}`,
            view: (
              <span className="min-w-0">
                <span className="flex items-baseline gap-2">
                  <span className="truncate font-medium">{name}</span>
                  {folder !== null && <span className="truncate text-xs text-muted">{folder}</span>}
                </span>
                <span dir="auto" className="block truncate text-xs text-muted">
                  {text}
                </span>
              </span>
            ),
          }))}
        />
      )}
    </Dialog>
  );
}
