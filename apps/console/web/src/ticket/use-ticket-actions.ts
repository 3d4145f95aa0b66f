import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ServiceError } from "@svc/client";
import type { ReviewAction, ReviewInput, TicketChange, TicketDetail, TicketItem } from "@svc/contracts";
import { decide, assignTicket, reopenAfterReply, showTicket, undoClose } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, usePeople, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** Confirmation of a decision, and how it is undone. */
interface Feedback {
  done?: string;
  /** Undoes the decision; `after` is the ticket after it. */
  undo?: (after: TicketItem) => void;
}

/** Returns the actions on a ticket. Each returns true if it succeeded; otherwise the page shows the error. */
// oxlint-disable-next-line max-lines-per-function -- Short functions over one shared state.
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
    { done, undo }: Feedback,
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
      // The ticket may have changed: the page shows its present state.
      void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
      return false;
    } finally {
      setBusy(null);
    }
    void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticket.id] });
    if (done !== undefined) {
      const changed = after;
      const action =
        undo === undefined || changed === null ? {} : { action: { label: t("ui.undo"), run: () => undo(changed) } };
      toasts.show({ kind: "done", text: done, ...action });
    }
    return true;
  }

  return {
    /** Name of the running action, or null. */
    busy,
    /** Makes a decision about the shown version of the ticket, or about `version`; with null, about any version. */
    act: <Action extends ReviewAction>(
      action: Action,
      input: ReviewInput<Action>,
      { version = ticket.version, ...feedback }: Feedback & { version?: number | null } = {},
    ) =>
      attempt(
        action,
        () => decide(connection, { id: ticket.id, project: ticket.project, version }, action, input),
        feedback,
      ),
    /** Restores the ticket as it was before it was closed. `after` is the closed ticket. */
    undoClose: (after: TicketItem) => attempt("reopen", () => undoClose(connection, after), {}),
    /** Reopens the ticket after a reply that has resolved it. The reply is not undone. */
    reopenAfterReply: () =>
      attempt("reopen", () => reopenAfterReply(connection, ticket), { done: t("done.replyReopen") }),
    /**
     * Assigns the shown version of the ticket, or `version`, to an operator; with null, to the agent. `keepsDraft` undoes
     * an assignment: the ticket waits again with its draft.
     */
    assign: (
      assignee: string | null,
      {
        version = ticket.version,
        keepsDraft = false,
        ...feedback
      }: Feedback & { version?: number; keepsDraft?: boolean } = {},
    ) => {
      const target = { id: ticket.id, project: ticket.project, version };
      const work = () =>
        assignee === me
          ? decide(connection, target, "takeover", {})
          : assignTicket(connection, target, { assignee, keepsDraft });
      return attempt("assign", work, feedback);
    },
    /** Changes fields of the shown version of the ticket, or of `version`. */
    change: (body: TicketChange, { version = ticket.version, ...feedback }: Feedback & { version?: number } = {}) =>
      attempt(
        "change",
        async () => {
          const input = { params: { id: ticket.id }, body, ifMatch: version };
          return (await connection.call("updateTicket", ticket.project, input)).item;
        },
        feedback,
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
