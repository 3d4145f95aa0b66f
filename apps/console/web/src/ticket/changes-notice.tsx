import { RefreshCw } from "lucide-react";
import type { Ref } from "react";
import { usePeople } from "../app/use-names.ts";
import type { Texts } from "../i18n/create-texts.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import type { TicketChangeNews } from "./describe-changes.ts";

const QUOTE_MAX_CHARS = 160;
const quote = (text: string) => (text.length > QUOTE_MAX_CHARS ? `${text.slice(0, QUOTE_MAX_CHARS)}…` : text);

interface TellWith {
  t: Texts["t"];
  nameOf: (actor: string) => string;
}

/** Each kind of change in words. */
const TELLINGS: {
  [Kind in TicketChangeNews["kind"]]: (change: Extract<TicketChangeNews, { kind: Kind }>, by: TellWith) => string;
} = {
  message: ({ text }, { t }) => t("conflict.message", { text: quote(text) }),
  reply: ({ author, text }, { t }) =>
    t(author === "operator" ? "conflict.reply" : "conflict.agentReply", { text: quote(text) }),
  draft: (_, { t }) => t("conflict.draft"),
  status: ({ status }, { t }) => t("conflict.status", { status: t(`status.${status}`) }),
  assignee: ({ assignee }, { nameOf, t }) =>
    assignee === null ? t("conflict.unassigned") : t("conflict.assigned", { name: nameOf(assignee) }),
};

function tell(change: TicketChangeNews, by: TellWith): string {
  // Each kind's own way takes what is of that kind.
  const telling = TELLINGS[change.kind] as (change: TicketChangeNews, by: TellWith) => string;
  return telling(change, by);
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
                  {tell(change, { t, nameOf })}
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
