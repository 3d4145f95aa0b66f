import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { RefObject } from "react";
import { ServiceError } from "@svc/client";
import type { ReviewAction, ReviewInput, TicketChange, TicketDetail, TicketItem } from "@svc/contracts";
import { assignTicket, decide, reopenAfterReply, showTicket, undoClose } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { READ_MS } from "../session/command-registry.ts";
import { usePeople, useProject, useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { saveFile } from "../ui/files.ts";

/** Titles and keys of the commands of a ticket. The list of keyboard shortcuts shows them also if no ticket is open. */
export const TICKET_KEYS = {
  approve: { title: "action.approve", keys: "a" },
  edit: { title: "action.edit", keys: "e" },
  reply: { title: "action.reply", keys: "r" },
  note: { title: "action.note", keys: "n" },
  regenerate: { title: "action.regenerate", keys: "shift+g" },
  reject: { title: "action.reject", keys: "shift+x" },
  assign: { title: "action.assign", keys: "#" },
  take: { title: "action.take", keys: "i" },
  snooze: { title: "action.snooze", keys: "z" },
  unsnooze: { title: "action.unsnooze", keys: "shift+z" },
  reroute: { title: "action.reroute", keys: "m" },
  tags: { title: "action.change", keys: "t" },
  resolve: { title: "action.resolve", keys: "shift+e" },
  spam: { title: "action.spam", keys: "!" },
  reopen: { title: "action.reopen", keys: "shift+o" },
  details: { title: "action.details", keys: "d" },
} as const satisfies Record<string, { title: TextKey; keys: string }>;

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

/**
 * Returns the decisions about a ticket. After one that finishes it, the next ticket of the list opens with `isNext` true,
 * and ignores decisions for a moment: a double click or a repeated key must not decide about a ticket that nobody has
 * read.
 */
// oxlint-disable-next-line max-lines-per-function -- One short function for each decision, over one shared state.
export function useDecisions(ticket: TicketDetail, isNext: RefObject<boolean>, actions: TicketActions) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const { advance } = useInbox();
  const { act } = actions;
  const acceptsFrom = useRef(0);
  const isShown = useRef(false);
  useEffect(() => {
    if (isNext.current) acceptsFrom.current = performance.now() + READ_MS;
    isNext.current = false;
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, [isNext]);
  const decide = (work: () => void) => {
    if (actions.busy === null && performance.now() >= acceptsFrom.current) work();
  };
  const advanceAfter = async (isDone: Promise<boolean>) => {
    // Does not navigate if the operator has opened another page meanwhile.
    if (!(await isDone) || !isShown.current) return;
    isNext.current = true;
    advance(ticket.id);
  };
  return {
    /** Sends the unedited draft, and optionally resolves the ticket. */
    approve: (resolves: boolean) =>
      decide(() => {
        const feedback = resolves
          ? { done: t("done.replyResolve"), undo: () => void actions.reopenAfterReply() }
          : { done: t("done.approve") };
        void advanceAfter(act("approve", resolves ? { resolves } : {}, feedback));
      }),
    reject: (reason?: string) =>
      decide(
        () => void advanceAfter(act("reject", reason === undefined ? {} : { reason }, { done: t("done.reject") })),
      ),
    regenerate: () => decide(() => void act("regenerate", {}, { done: t("done.regenerate") })),
    /** Opens the next ticket of the list, after an operator has finished this one. */
    openNext: () => void advanceAfter(Promise.resolve(true)),
    /** Snoozes the ticket until a time; with null, until the customer's next message. */
    snooze: (until: string | null) =>
      decide(
        () =>
          void advanceAfter(
            act(
              "snooze",
              { until },
              {
                done: t("done.snooze"),
                undo: ({ version }) => void act("unsnooze", {}, { version, done: t("done.unsnooze") }),
              },
            ),
          ),
      ),
    unsnooze: () => decide(() => void act("unsnooze", {}, { done: t("done.unsnooze") })),
    reopen: () => decide(() => void act("reopen", {}, { version: null, done: t("done.reopen") })),
    retry: () => decide(() => void act("retry", {}, { done: t("done.retry") })),
    resolve: (as: "resolved" | "spam") =>
      decide(() => {
        const done = t(as === "spam" ? "done.spam" : "done.resolve");
        void advanceAfter(act("resolve", { status: as }, { done, undo: (after) => void actions.undoClose(after) }));
      }),
    assign: (assignee: string | null) =>
      decide(() => {
        const before = ticket.assignee;
        void actions.assign(assignee, {
          done: t(assignee === null ? "done.unassign" : "done.assign"),
          undo: ({ version }) => void actions.assign(before, { version, keepsDraft: true }),
        });
      }),
    saveTranscript: () =>
      void connection.fetchFile(`/api/v1/admin/tickets/${ticket.id}/transcript`, ticket.project).then(
        (bytes) => saveFile(bytes, `conversation-${ticket.id.slice(0, 8)}.txt`),
        (error: unknown) => toasts.show({ kind: "error", text: describeError(error, t) }),
      ),
    copyLink: () =>
      void navigator.clipboard.writeText(location.href).then(
        () => toasts.show({ kind: "done", text: t("done.copied") }),
        () => toasts.show({ kind: "error", text: t("error.clipboard") }),
      ),
  };
}
export type Decisions = ReturnType<typeof useDecisions>;
