import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ServiceFault } from "@svc/client";
import type { ReviewAction, ReviewInput, TicketChange, TicketDetail } from "@svc/contracts";
import { decide, showTicket, undoClose } from "../api/tickets.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";

/** How a decision is told, and how it is taken back. */
interface Telling {
  done?: string;
  undo?: () => void;
  /** What that is called; "Undo" where absent. */
  undoLabel?: string;
}

/** What can be done with a ticket. Each answers whether it was done; why not is told on the page. */
export function useTicketActions(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { t } = useTexts();
  const [busy, setBusy] = useState<string | null>(null);

  async function attempt(
    name: string,
    work: () => Promise<void>,
    { done, undo, undoLabel = t("ui.undo") }: Telling,
  ): Promise<boolean> {
    setBusy(name);
    try {
      await work();
    } catch (fault) {
      const isConflict = fault instanceof ServiceFault && fault.code === "version_conflict";
      const text = isConflict ? t("conflict.toast") : describeFault(fault, t);
      toasts.show({ kind: "fault", text });
      // What it is about has changed: the page shows how.
      void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
      return false;
    } finally {
      setBusy(null);
    }
    void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
    if (done !== undefined) {
      const action = undo === undefined ? {} : { action: { label: undoLabel, run: undo } };
      toasts.show({ kind: "done", text: done, ...action });
    }
    return true;
  }

  return {
    /** Name of what is being done; null when nothing is. */
    busy,
    /** Decides about the ticket as it is shown, or, with `version` null, whatever has become of it. */
    act: <Action extends ReviewAction>(
      action: Action,
      input: ReviewInput<Action>,
      { version = ticket.version, ...telling }: Telling & { version?: number | null } = {},
    ) =>
      attempt(
        action,
        async () => {
          const place = { id: ticket.id, project: ticket.project, version };
          showTicket(queryClient, project, await decide(connection, place, action, input));
        },
        telling,
      ),
    /** Takes back that the ticket, as it is shown, was closed: it is open, and its assignee has it again. */
    undoClose: () =>
      attempt("reopen", async () => showTicket(queryClient, ticket.project, await undoClose(connection, ticket)), {}),
    change: (body: TicketChange, telling: Telling = {}) =>
      attempt(
        "change",
        async () => {
          const input = { params: { id: ticket.id }, body };
          showTicket(queryClient, project, (await connection.call("updateTicket", ticket.project, input)).item);
        },
        telling,
      ),
    decideToolCall: (id: string, isApproved: boolean) =>
      attempt(
        `tool-${id}`,
        async () => {
          const input = { params: { id }, ifMatch: ticket.version };
          await connection.call(isApproved ? "approveToolCall" : "rejectToolCall", ticket.project, input);
        },
        { done: t(isApproved ? "tool.approved" : "tool.rejected") },
      ),
  };
}
export type TicketActions = ReturnType<typeof useTicketActions>;
