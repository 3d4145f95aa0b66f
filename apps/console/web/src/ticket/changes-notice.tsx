import { RefreshCw } from "lucide-react";
import type { Ref } from "react";
import { usePeople } from "../app/use-names.ts";
import type { Texts } from "../i18n/create-texts.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import type { TicketChangeNews } from "./describe-changes.ts";

const QUOTE_MAX_CHARS = 160;
const quote = (text: string) => (text.length > QUOTE_MAX_CHARS ? `${text.slice(0, QUOTE_MAX_CHARS)}…` : text);

function tell(change: TicketChangeNews, t: Texts["t"], nameOf: (actor: string) => string): string {
  switch (change.kind) {
    case "message":
      return t("conflict.message", { text: quote(change.text) });
    case "reply":
      return t(change.author === "operator" ? "conflict.reply" : "conflict.agentReply", { text: quote(change.text) });
    case "draft":
      return t("conflict.draft");
    case "status":
      return t("conflict.status", { status: t(`status.${change.status}`) });
    case "assignee":
      return change.assignee === null
        ? t("conflict.unassigned")
        : t("conflict.assigned", { name: nameOf(change.assignee) });
  }
}

/** What has happened since the text was begun: nothing goes out over it unseen. */
export function ChangesNotice({
  ref,
  changes,
  onSeen,
}: {
  ref: Ref<HTMLDivElement>;
  changes: readonly TicketChangeNews[];
  onSeen: () => void;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  return (
    <div ref={ref} role="status" tabIndex={-1} className="outline-none">
      {changes.length > 0 && (
        <div className="animate-appear mb-2 flex items-start gap-2.5 rounded-lg border border-warn/30 bg-warn-soft px-3 py-2 text-sm">
          <RefreshCw aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
          <div className="min-w-0 flex-1">
            <p className="font-semibold">{t("conflict.title")}</p>
            <ul>
              {changes.map((change, index) => (
                <li key={index} dir="auto" className="wrap-anywhere text-muted">
                  {tell(change, t, nameOf)}
                </li>
              ))}
            </ul>
          </div>
          <Button size="small" onClick={onSeen}>
            {t("conflict.seen")}
          </Button>
        </div>
      )}
    </div>
  );
}
