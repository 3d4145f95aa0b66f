import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, ThumbsDown, ThumbsUp } from "lucide-react";
import { useEffect, useEffectEvent, useId, useState } from "react";
import type { ReactNode, SubmitEvent } from "react";
import type { TicketDetail } from "@svc/contracts";
import { decide, ticketQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { TextArea } from "../ui/field.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { CorrectAnswer } from "./correct-answer.tsx";
import { confirmAnswer, isConfirmed } from "./first-run-state.ts";
import type { KbTarget } from "./first-run-state.ts";

/** A step of the guide: its purpose, its actions, and whether it is done. */
export function Step({
  number,
  title,
  text,
  isDone,
  done,
  children,
}: {
  number: number;
  title: string;
  text: string;
  /** Undefined while unknown. */
  isDone: boolean | undefined;
  /** Text for a finished step. */
  done: string;
  children: ReactNode;
}) {
  const { t } = useTexts();
  const titleId = useId();
  return (
    <li className="rounded-xl border border-line bg-surface p-4 sm:p-5">
      <section
        aria-labelledby={titleId}
        className="flex items-start gap-3.5 max-sm:flex-col max-sm:items-stretch max-sm:gap-2"
      >
        <span
          aria-hidden
          className={`flex size-8 shrink-0 items-center justify-center rounded-full text-sm font-semibold ${
            isDone === true ? "bg-ok-soft text-ok" : "bg-accent-soft text-accent"
          }`}
        >
          {isDone === true ? <Check className="size-4.5" /> : number}
        </span>
        <div className="min-w-0 flex-1">
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          <p className="mt-0.5 max-w-xl text-sm text-muted">{text}</p>
          <p role="status" className={isDone === true ? "mt-2 text-sm font-medium text-ok" : "sr-only"}>
            {isDone === true ? done : isDone === false ? t("firstRun.open") : ""}
          </p>
          <div className="mt-3">{children}</div>
        </div>
      </section>
    </li>
  );
}

const POLL_MS = 1_000;
/** Key of the unsent text in the browser's storage. */
const STORED_TEXT = "console.first-run.text";
/** Copied from TEST_MESSAGE_MAX_CHARS of the contracts; the server checks it. */
const TEXT_MAX_CHARS = 2_000;

/** Asks whether the answer was right; a draft is sent if it was, and a wrong answer is corrected. */
function Verdict({
  ticket,
  question,
  onRight,
  onTaught,
}: {
  ticket: TicketDetail;
  question: string;
  onRight: () => void;
  onTaught: (article: KbTarget | null) => void;
}) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const titleId = useId();
  const [isWrong, setWrong] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { draft, id, stage, version } = ticket;
  const isHeld = stage === "review";
  const hasAnswer = !isHeld || (draft !== null && draft.text.trim() !== "");
  async function confirm() {
    setBusy(true);
    try {
      if (isHeld) {
        await decide(connection, { id, project: ticket.project, version }, "approve", {});
        await queryClient.invalidateQueries({ queryKey: ["ticket", project, id] });
      }
      onRight();
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className="flex flex-col gap-3">
      {hasAnswer && (
        <div role="group" aria-labelledby={titleId} className="flex flex-wrap items-center gap-2">
          <p id={titleId} className="mr-1 text-sm font-medium">
            {t("firstRun.wasRight")}
          </p>
          <Button icon={ThumbsUp} size="small" isBusy={isBusy} onClick={() => void confirm()}>
            {t(isHeld ? "firstRun.rightSend" : "firstRun.right")}
          </Button>
          <Button icon={ThumbsDown} size="small" aria-expanded={isWrong} onClick={() => setWrong(!isWrong)}>
            {t("firstRun.wrong")}
          </Button>
        </div>
      )}
      {(isWrong || !hasAnswer) && <CorrectAnswer ticket={ticket} question={question} onTaught={onTaught} />}
    </div>
  );
}

/** The outcome of the message: the answer, the draft that waits for an operator, or the progress. */
function Outcome({
  ticket,
  ...verdict
}: {
  ticket: TicketDetail;
  question: string;
  isRight: boolean;
  onRight: () => void;
  onTaught: (article: KbTarget | null) => void;
}) {
  const { percent, t } = useTexts();
  const project = useProject();
  const { draft, id, replies, stage } = ticket;
  const hasDraft = draft !== null && draft.text.trim() !== "";
  const isAnswered = stage === "done" && replies.some(({ author }) => author !== "system");
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
          <p className="font-medium">
            {hasDraft ? t("firstRun.held", { share: percent(draft.confidence ?? 0) }) : t("firstRun.unanswered")}
          </p>
          {hasDraft && (
            <div className="mt-2">
              {draft.markdown ? <Markdown text={draft.text} /> : <PlainText text={draft.text} />}
            </div>
          )}
        </div>
      )}
      {stage === "failed" && <p className="text-sm text-bad">{t("firstRun.failed")}</p>}
      {(stage === "review" || isAnswered) && !verdict.isRight && <Verdict ticket={ticket} {...verdict} />}
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

/** Sends test messages, follows the ticket of the last one, and asks again after an article was added. */
function useTestMessage() {
  const { connection, live, queryClient } = useServices();
  const project = useProject();
  const [sent, setSent] = useState<{ text: string; ticketId: string } | null>(null);
  /** The article that is being read before the question is asked again. */
  const [article, setArticle] = useState<KbTarget | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const ticketId = sent?.ticketId ?? "";
  const ticket = useQuery({
    ...ticketQuery(connection, project, ticketId),
    enabled: sent !== null,
    // Events of the ticket arrive as well; polling covers a dropped connection.
    refetchInterval: ({ state }) => (state.data?.stage === "done" ? false : POLL_MS),
  });
  useEffect(
    () =>
      live.on("ticket", (event) => {
        if (event.ticketId === ticketId)
          void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticketId] });
      }),
    [live, project, queryClient, ticketId],
  );
  async function ask(question: string): Promise<boolean> {
    setBusy(true);
    setError(null);
    try {
      const { item } = await connection.call("sendTestMessage", project, { body: { text: question } });
      setSent({ text: question, ticketId: item.ticketId });
      return true;
    } catch (cause) {
      setError(cause);
      return false;
    } finally {
      setBusy(false);
    }
  }
  const reading = useQuery({
    queryKey: ["first-run", "article", project, article?.documentId],
    enabled: article !== null,
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => {
      const params = { id: article?.kbId ?? "", docId: article?.documentId ?? "" };
      return (await connection.call("getDocument", project, { params, signal })).item;
    },
  });
  const status = article === null ? undefined : reading.data?.status;
  const askAgain = useEffectEvent(() => {
    setArticle(null);
    if (sent !== null) void ask(sent.text);
  });
  useEffect(() => {
    if (status === "ready") askAgain();
  }, [status]);
  const isReading = article !== null;
  return { sent, ticket: ticket.data, isReading, hasFailed: status === "failed", setArticle, error, isBusy, ask };
}

/** The field for a test message, whose unsent text is stored in this browser. */
function TestForm({ error, isBusy, ask }: Pick<ReturnType<typeof useTestMessage>, "error" | "isBusy" | "ask">) {
  const { t } = useTexts();
  const { storage } = useServices();
  const [text, setText] = useState(() => storage.getItem(STORED_TEXT) ?? "");
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (text.trim() === "" || isBusy || !(await ask(text))) return;
    setText("");
    storage.removeItem(STORED_TEXT);
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-2.5">
      <TextArea
        label={t("firstRun.message")}
        value={text}
        maxLength={TEXT_MAX_CHARS}
        rows={2}
        dir="auto"
        placeholder={t("firstRun.messageHint")}
        onChange={(value) => {
          setText(value);
          storage.setItem(STORED_TEXT, value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {error !== null && <ErrorNotice error={error} />}
      <Button
        type="submit"
        variant="primary"
        keys="mod+Enter"
        isBusy={isBusy}
        disabled={text.trim() === ""}
        className="self-start"
      >
        {t("firstRun.send")}
      </Button>
    </form>
  );
}

/** A test message like a customer's, and its answer. */
export function TestStep({ number }: { number: number }) {
  const { t } = useTexts();
  const { storage } = useServices();
  const project = useProject();
  const message = useTestMessage();
  const [isRight, setRight] = useState(() => isConfirmed(storage, project));
  /** The ticket whose answer was confirmed. */
  const [confirmed, setConfirmed] = useState<string | null>(null);
  const { sent, ticket, isReading, hasFailed, setArticle, ask } = message;
  function confirm() {
    confirmAnswer(storage, project);
    setRight(true);
    setConfirmed(sent?.ticketId ?? "");
  }
  return (
    <Step
      number={number}
      title={t("firstRun.test")}
      text={t("firstRun.testText")}
      isDone={isRight && (sent === null || confirmed === sent.ticketId)}
      done={t("firstRun.tested")}
    >
      {sent !== null && (
        <div className="mb-4 flex flex-col gap-3 rounded-lg border border-line bg-page p-3.5">
          <div className="max-w-[85%] self-end rounded-2xl rounded-tr-sm bg-accent-soft px-3.5 py-2.5">
            <PlainText text={sent.text} />
          </div>
          {ticket !== undefined && !isReading && (
            <Outcome
              key={sent.ticketId}
              ticket={ticket}
              question={sent.text}
              isRight={confirmed === sent.ticketId}
              onRight={confirm}
              onTaught={(article) => {
                if (article === null) void ask(sent.text);
                else setArticle(article);
              }}
            />
          )}
          {isReading && (
            <p role="status" className={`text-sm ${hasFailed ? "text-bad" : "text-muted"}`}>
              {t(hasFailed ? "firstRun.articleFailed" : "firstRun.articleReading")}
            </p>
          )}
          {ticket === undefined && <p className="text-xs text-muted">{t("arrival.working")}</p>}
        </div>
      )}
      <TestForm {...message} />
    </Step>
  );
}
