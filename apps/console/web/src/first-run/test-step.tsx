import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import type { SubmitEvent } from "react";
import type { TicketDetail } from "@svc/contracts";
import { decide, ticketQuery } from "../api/tickets.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { isAnswered, newestTicketsQuery } from "./first-run-state.ts";
import { Step } from "./step.tsx";

const LOOK_MS = 1_000;
/** Where what was typed waits for the message to be sent. */
const KEPT = "console.first-run.text";
/** TEST_MESSAGE_MAX_CHARS of the contracts says the same; the server checks. */
const TEXT_MAX_CHARS = 2_000;

/** What became of the message: the answer, the draft that waits for a person, or how far it is. */
function Outcome({ ticket }: { ticket: TicketDetail }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const [isBusy, setBusy] = useState(false);
  const { draft, id, replies, stage, version } = ticket;
  const hasDraft = draft !== null && draft.text.trim() !== "";
  async function approve() {
    setBusy(true);
    try {
      await decide(connection, { id, project: ticket.project, version }, "approve", {});
      await queryClient.invalidateQueries({ queryKey: ["ticket", project, id] });
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className="flex flex-col gap-3">
      {replies.map(
        (reply) =>
          reply.type === "message" && (
            <div key={reply.id} className="max-w-[85%] self-start rounded-2xl rounded-tl-sm bg-sunken px-3.5 py-2.5">
              {reply.markdown ? <Markdown text={reply.text} /> : <PlainText text={reply.text} />}
            </div>
          ),
      )}
      {stage === "review" && (
        <div className="animate-appear rounded-lg border border-warn/30 bg-warn-soft px-3.5 py-2.5 text-sm">
          <p className="font-medium">{t(hasDraft ? "firstRun.held" : "firstRun.unanswered")}</p>
          {hasDraft && (
            <>
              <div className="mt-2">
                <Markdown text={draft.text} />
              </div>
              <Button look="primary" className="mt-2.5" isBusy={isBusy} onClick={() => void approve()}>
                {t("action.approve")}
              </Button>
            </>
          )}
        </div>
      )}
      {stage === "failed" && <p className="text-sm text-bad">{t("firstRun.failed")}</p>}
      <p role="status" className="flex flex-wrap items-baseline gap-x-3 text-xs text-muted">
        <span>{t(`state.${stage}`)}</span>
        <Link
          to="/$project/inbox/$view/$ticketId"
          params={{ project, view: "all", ticketId: id }}
          className="rounded-sm font-medium text-accent hover:underline"
        >
          {t("firstRun.openTicket")}
        </Link>
      </p>
    </div>
  );
}

/** A message as a customer would send it, and what is answered. */
export function TestStep({ number }: { number: number }) {
  const { t } = useTexts();
  const { connection, live, queryClient, storage } = useServices();
  const project = useProject();
  const formId = useId();
  const tickets = useQuery(newestTicketsQuery(connection, project));
  const [text, setText] = useState(() => storage.getItem(KEPT) ?? "");
  const [sent, setSent] = useState<{ text: string; ticketId: string } | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const ticketId = sent?.ticketId ?? "";
  const ticket = useQuery({
    ...ticketQuery(connection, project, ticketId),
    enabled: sent !== null,
    // The line of news tells of it, too; where that is cut, this still does.
    refetchInterval: ({ state }) => (state.data?.stage === "done" ? false : LOOK_MS),
  });
  useEffect(
    () =>
      live.on("ticket", (news) => {
        if (news.ticketId === ticketId) void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticketId] });
      }),
    [live, project, queryClient, ticketId],
  );
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (text.trim() === "" || isBusy) return;
    setBusy(true);
    setFault(null);
    try {
      const { item } = await connection.call("sendTestMessage", project, { body: { text } });
      setSent({ text, ticketId: item.ticketId });
      setText("");
      storage.removeItem(KEPT);
    } catch (cause) {
      setFault(cause);
    } finally {
      setBusy(false);
    }
  }
  // The text that says that a person will answer is no answer.
  const hasReply = ticket.data?.replies.some((reply) => reply.type === "message" && reply.author !== "system") === true;
  return (
    <Step
      number={number}
      title={t("firstRun.test")}
      text={t("firstRun.testText")}
      isDone={hasReply || (tickets.data === undefined ? undefined : isAnswered(tickets.data))}
      done={t("firstRun.tested")}
    >
      {sent !== null && (
        <div className="mb-4 flex flex-col gap-3 rounded-lg border border-line bg-page p-3.5">
          <div className="max-w-[85%] self-end rounded-2xl rounded-tr-sm bg-accent-soft px-3.5 py-2.5">
            <PlainText text={sent.text} />
          </div>
          {ticket.data !== undefined && <Outcome ticket={ticket.data} />}
          {ticket.data === undefined && <p className="text-xs text-muted">{t("arrival.working")}</p>}
        </div>
      )}
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-2.5">
        <TextArea
          label={t("firstRun.message")}
          value={text}
          maxLength={TEXT_MAX_CHARS}
          rows={2}
          dir="auto"
          placeholder={t("firstRun.messageHint")}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            storage.setItem(KEPT, currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
        {fault !== null && <FaultNotice fault={fault} />}
        <Button
          type="submit"
          look="primary"
          keys="mod+Enter"
          isBusy={isBusy}
          disabled={text.trim() === ""}
          className="self-start"
        >
          {t("firstRun.send")}
        </Button>
      </form>
    </Step>
  );
}
