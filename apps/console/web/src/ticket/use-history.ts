import { useState } from "react";
import type { TicketDetail } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";
import { mergeHistory } from "./merge-history.ts";

/** All that is known of what was said in a ticket, and the way to what is older. */
export function useHistory(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [read, setRead] = useState(ticket);
  const [history, setHistory] = useState(() => mergeHistory(ticket, ticket));
  const [more, setMore] = useState(ticket.more);
  const [isLoading, setLoading] = useState(false);
  if (read !== ticket) {
    setRead(ticket);
    setHistory(mergeHistory(history, ticket));
  }
  const hasMore = more.messages || more.replies || more.events;

  async function loadOlder(): Promise<void> {
    if (isLoading || !hasMore) return;
    setLoading(true);
    const { events, messages, replies } = history;
    const query = {
      ...(more.messages ? { messagesBefore: String(messages[0]?.seq ?? 0) } : {}),
      ...(more.replies ? { repliesBefore: String(replies[0]?.seq ?? 0) } : {}),
      ...(more.events ? { eventsBefore: String(events[0]?.id ?? 0) } : {}),
    };
    try {
      const input = { params: { id: ticket.id }, query };
      const { item } = await connection.call("getTicketHistory", ticket.project, input);
      setHistory((known) => mergeHistory(item, known));
      setMore(item.more);
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
    } finally {
      setLoading(false);
    }
  }
  return { history, hasMore, isLoading, loadOlder };
}
