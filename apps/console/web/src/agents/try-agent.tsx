import type { Agent, AgentResult } from "@svc/contracts";
import { CircleCheck, UserRound, FlaskConical } from "lucide-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { definedParams } from "../api/connection.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { describeReason } from "../ticket/describe-reason.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { TextArea } from "../ui/field.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";

/** Returns whether an answer with this confidence would be sent without review. */
function sendsAlone(
  { autoThreshold, reviewPolicy }: Pick<Agent, "autoThreshold" | "reviewPolicy">,
  confidence: number,
): boolean {
  return reviewPolicy === "auto" || (reviewPolicy === "auto_if" && confidence >= autoThreshold);
}

/** Settings that decide whether an answer is sent automatically. */
type Policy = Pick<Agent, "autoThreshold" | "reviewPolicy">;

/** An agent's answer, its confidence, whether it would be sent without review, and its sources. */
export function AnswerResult({ result, policy }: { result: AgentResult; policy: Policy }) {
  const { t, percent, duration } = useTexts();
  const { confidence, durationMs, output, sources, why } = result;
  const isSent = output.text !== null && sendsAlone(policy, confidence);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={isSent ? "ok" : "warn"}>
          {isSent ? <CircleCheck aria-hidden className="size-3" /> : <UserRound aria-hidden className="size-3" />}
          {t(isSent ? "search.sends" : "search.holds")}
        </Badge>
        <span className="text-xs text-muted">
          {t("search.confidence", { share: percent(confidence) })} · {duration(durationMs)}
        </span>
      </div>
      {output.text === null ? (
        <p className="text-sm text-muted">{t("search.noAnswer")}</p>
      ) : (
        <div className="text-sm">
          {output.markdown ? <Markdown text={output.text} /> : <PlainText text={output.text} />}
        </div>
      )}
      {sources.length > 0 && (
        <div>
          <h3 className="mb-1 text-xs font-semibold text-muted">{t("search.sources")}</h3>
          <ol className="flex flex-col gap-1.5">
            {sources.map(({ chunkId, quote, excerpt, title }) => (
              <li key={chunkId} className="border-l-2 border-line pl-2.5 text-xs" dir="auto">
                <p className="font-medium wrap-anywhere">{title}</p>
                <p className="line-clamp-3 text-muted">{excerpt ?? quote}</p>
              </li>
            ))}
          </ol>
        </div>
      )}
      <p className="text-xs wrap-anywhere text-muted">{describeReason(why, { t, percent, nameOf: String })}</p>
    </div>
  );
}

function Result({ result, policy }: { result: AgentResult; policy: Policy }) {
  const { t, number } = useTexts();
  const { usage } = result;
  return (
    <div className="flex flex-col gap-3">
      <AnswerResult result={result} policy={policy} />
      {usage.model !== null && (
        <p className="text-xs text-muted">
          {t("agents.usage", {
            model: usage.model,
            input: number(usage.inputTokens),
            output: number(usage.outputTokens),
          })}
        </p>
      )}
    </div>
  );
}

/** Asks an agent. Later questions have the earlier ones as context, like in a chat. */
function useQuestions(agentId: string) {
  const { connection } = useServices();
  const project = useProject();
  const [input, setInput] = useState("");
  const [context, setContext] = useState("");
  const answer = useMutation({
    mutationFn: (question: { input: string; context: string }) =>
      connection.call("executeAgent", project, {
        params: { id: agentId },
        body: { input: question.input, ...definedParams({ context: question.context }) },
      }),
    onSuccess: (_, question) => setContext(`${question.context}\n${question.input.replaceAll("\n", " ")}`.trim()),
  });
  return {
    input,
    setInput,
    context,
    answer,
    ask: () => {
      if (input.trim() !== "" && !answer.isPending) answer.mutate({ input: input.trim(), context });
    },
    reset: () => {
      setContext("");
      setInput("");
      answer.reset();
    },
  };
}

/** Asks the saved agent like a customer; nothing is sent or stored. */
export function TryAgent({ agent, policy, isDirty }: { agent: Agent; policy: Policy; isDirty: boolean }) {
  const { t } = useTexts();
  const { input, setInput, context, answer, ask, reset } = useQuestions(agent.id);
  return (
    <section aria-busy={answer.isPending} className="rounded-xl border border-line bg-surface p-4 lg:sticky lg:top-4">
      <h2 className="mb-3 flex items-center gap-2 text-base font-semibold">
        <FlaskConical aria-hidden className="size-4.5 text-accent" />
        {t("agents.try")}
      </h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
        className="flex flex-col gap-3"
      >
        <TextArea
          label={t("search.question")}
          hint={t(isDirty ? "agents.trySaved" : "agents.tryHint")}
          rows={3}
          maxLength={50_000}
          value={input}
          onChange={setInput}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            ask();
          }}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" isBusy={answer.isPending} disabled={input.trim() === ""}>
            {t("search.ask")}
          </Button>
          {context !== "" && (
            <Button variant="quiet" onClick={reset}>
              {t("agents.tryForget")}
            </Button>
          )}
        </div>
      </form>
      {context !== "" && <p className="mt-2 text-xs text-muted">{t("agents.tryContext")}</p>}
      <div aria-live="polite" className="mt-4 empty:mt-0">
        {answer.isPending && <AnswerSkeleton />}
        {answer.isError && <ErrorNotice error={answer.error} onRetry={ask} />}
        {answer.isSuccess && <Result result={answer.data} policy={policy} />}
      </div>
      {!agent.enabled && (
        <div className="mt-3">
          <Notice>{t("agents.tryOff")}</Notice>
        </div>
      )}
    </section>
  );
}

/** Skeleton of an answer that is loading. */
export const AnswerSkeleton = () => (
  <div aria-busy className="flex flex-col gap-2">
    <Skeleton className="h-4 w-full" />
    <Skeleton className="h-4 w-4/5" />
    <Skeleton className="h-4 w-3/5" />
  </div>
);
