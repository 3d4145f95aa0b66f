import { useEffect, useRef } from "react";
import type { RefObject } from "react";
import type { TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { READ_MS } from "../session/command-registry.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { saveFile } from "../ui/save-file.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

/**
 * The decisions about a ticket. After one that finishes it, the next ticket of the list is opened, and `isNext` is true:
 * the next decision then has to wait a moment, so that a key that is pressed twice, or a double click, does not decide
 * about a ticket that nobody has read.
 */
// oxlint-disable-next-line max-lines-per-function -- one short function for each decision, over one shared state
export function useDecisions(ticket: TicketDetail, isNext: RefObject<boolean>, actions: TicketActions) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const { advance } = useInbox();
  const { act } = actions;
  const readFrom = useRef(0);
  const isShown = useRef(false);
  useEffect(() => {
    if (isNext.current) readFrom.current = performance.now() + READ_MS;
    isNext.current = false;
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, [isNext]);
  const decide = (work: () => void) => {
    if (actions.busy === null && performance.now() >= readFrom.current) work();
  };
  const goOn = async (isDone: Promise<boolean>) => {
    // An operator who has opened another page meanwhile stays there.
    if (!(await isDone) || !isShown.current) return;
    isNext.current = true;
    advance(ticket.id);
  };
  return {
    /** Sends the draft as it is, and resolves the ticket if that is asked for. */
    approve: (resolves: boolean) =>
      decide(() => {
        const telling = resolves
          ? { done: t("done.replyResolve"), undo: () => void actions.reopenAfterReply() }
          : { done: t("done.approve") };
        void goOn(act("approve", resolves ? { resolves } : {}, telling));
      }),
    reject: (reason?: string) =>
      decide(() => void goOn(act("reject", reason === undefined ? {} : { reason }, { done: t("done.reject") }))),
    regenerate: () => decide(() => void act("regenerate", {}, { done: t("done.regenerate") })),
    /** Opens the next ticket of the list, after this one was finished. */
    openNext: () => void goOn(Promise.resolve(true)),
    /** Snoozes the ticket until a time; null until its customer writes. */
    snooze: (until: string | null) =>
      decide(
        () =>
          void goOn(
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
        void goOn(act("resolve", { status: as }, { done, undo: (after) => void actions.undoClose(after) }));
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
