import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ServiceError } from "@svc/client";
import type { ReviewAction, ReviewInput, TicketChange, TicketDetail, TicketItem } from "@svc/contracts";
import { decide, give, reopenAfterReply, showTicket, undoClose } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, usePeople, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** How a decision is announced, and how it is undone. */
interface Telling {
  done?: string;
  /** Takes it back; `after` is the ticket as the decision has made it, which is what is taken back. */
  undo?: (after: TicketItem) => void;
}

/** What can be done with a ticket. Each returns whether it succeeded; the page shows why not. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function useTicketActions(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { t } = useTexts();
  const { me } = usePeople();
  const [busy, setBusy] = useState<string | null>(null);

  async function attempt(
    name: string,
    work: () => Promise<TicketItem | null>,
    { done, undo }: Telling,
  ): Promise<boolean> {
    setBusy(name);
    let after: TicketItem | null;
    try {
      after = await work();
      if (after !== null) showTicket(queryClient, ticket.project, after);
    } catch (error) {
      const isConflict = error instanceof ServiceError && error.code === "version_conflict";
      const text = isConflict ? t("conflict.toast") : describeError(error, t);
      toasts.show({ kind: "error", text });
      // What it is about has changed: the page shows how.
      void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
      return false;
    } finally {
      setBusy(null);
    }
    void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
    if (done !== undefined) {
      const became = after;
      const action =
        undo === undefined || became === null ? {} : { action: { label: t("ui.undo"), run: () => undo(became) } };
      toasts.show({ kind: "done", text: done, ...action });
    }
    return true;
  }

  return {
    /** Name of what is being done; null when nothing is. */
    busy,
    /**
     * Decides about the ticket as it is shown, or as `version` says that it was; with null, whatever has become of it.
     */
    act: <Action extends ReviewAction>(
      action: Action,
      input: ReviewInput<Action>,
      { version = ticket.version, ...telling }: Telling & { version?: number | null } = {},
    ) =>
      attempt(
        action,
        () => decide(connection, { id: ticket.id, project: ticket.project, version }, action, input),
        telling,
      ),
    /** Restores the ticket as it was before it was closed. `after` is what closing made of it. */
    undoClose: (after: TicketItem) => attempt("reopen", () => undoClose(connection, after), {}),
    /** Reopens the ticket after a reply that has resolved it. The reply stays sent. */
    reopenAfterReply: () =>
      attempt("reopen", () => reopenAfterReply(connection, ticket), { done: t("done.replyReopen") }),
    /**
     * Gives the ticket to somebody, as it is shown or as `version` says that it was. Nobody (null) gives it back to the
     * agent; where that takes back that somebody got it, it goes on waiting as it was, with its draft (`keepsDraft`).
     */
    assign: (
      assignee: string | null,
      {
        version = ticket.version,
        keepsDraft = false,
        ...telling
      }: Telling & { version?: number; keepsDraft?: boolean } = {},
    ) => {
      const target = { id: ticket.id, project: ticket.project, version };
      const work = () =>
        assignee === me
          ? decide(connection, target, "takeover", {})
          : give(connection, target, { assignee, keepsDraft });
      return attempt("assign", work, telling);
    },
    /** Changes what `body` names of the ticket as it is shown, or as `version` says that it was. */
    change: (body: TicketChange, { version = ticket.version, ...telling }: Telling & { version?: number } = {}) =>
      attempt(
        "change",
        async () => {
          const input = { params: { id: ticket.id }, body, ifMatch: version };
          return (await connection.call("updateTicket", ticket.project, input)).item;
        },
        telling,
      ),
    decideToolCall: (id: string, isApproved: boolean) =>
      attempt(
        `tool-${id}`,
        async () => {
          const input = { params: { id }, ifMatch: ticket.version };
          await connection.call(isApproved ? "approveToolCall" : "rejectToolCall", ticket.project, input);
          return null;
        },
        { done: t(isApproved ? "tool.approved" : "tool.rejected") },
      ),
  };
}
export type TicketActions = ReturnType<typeof useTicketActions>;
