import { useEffect, useRef } from "react";
import type { RefObject } from "react";
import type { TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { READ_MS } from "../session/command-registry.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { saveFile } from "../ui/files.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

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
