import { useMutation } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useState } from "react";
import type { SubmitEvent } from "react";
import type { Agent, AgentResult } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Notice } from "../ui/notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { AnswerResult } from "./answer-result.tsx";
import type { Policy } from "./answer-result.tsx";

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

/** Asks an agent as a customer would; nothing is sent or kept. It answers as it is saved. */
export function TryAgent({ agent, policy, isDirty }: { agent: Agent; policy: Policy; isDirty: boolean }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const [input, setInput] = useState("");
  const [context, setContext] = useState("");
  const answer = useMutation({
    mutationFn: (asked: { input: string; context: string }) =>
      connection.call("executeAgent", project, {
        params: { id: agent.id },
        body: { input: asked.input, ...(asked.context === "" ? {} : { context: asked.context }) },
      }),
    // The next question may lean on this one, as in a chat.
    onSuccess: (_, asked) => setContext(`${asked.context}\n${asked.input.replaceAll("\n", " ")}`.trim()),
  });
  const isEmpty = input.trim() === "";

  function ask() {
    if (!isEmpty && !answer.isPending) answer.mutate({ input: input.trim(), context });
  }
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    ask();
  }
  function forget() {
    setContext("");
    setInput("");
    answer.reset();
  }

  return (
    <section aria-busy={answer.isPending} className="rounded-xl border border-line bg-surface p-4 lg:sticky lg:top-4">
      <h2 className="mb-3 flex items-center gap-2 text-base font-semibold">
        <FlaskConical aria-hidden className="size-4.5 text-accent" />
        {t("agents.try")}
      </h2>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextArea
          label={t("search.question")}
          hint={t(isDirty ? "agents.trySaved" : "agents.tryHint")}
          rows={3}
          maxLength={50_000}
          value={input}
          onChange={({ currentTarget }) => setInput(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            ask();
          }}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" isBusy={answer.isPending} disabled={isEmpty}>
            {t("search.ask")}
          </Button>
          {context !== "" && (
            <Button look="quiet" onClick={forget}>
              {t("agents.tryForget")}
            </Button>
          )}
        </div>
      </form>
      {context !== "" && <p className="mt-2 text-xs text-muted">{t("agents.tryContext")}</p>}
      <div aria-live="polite" className="mt-4 empty:mt-0">
        {answer.isPending && (
          <div className="flex flex-col gap-2">
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-4/5" />
            <Skeleton className="h-4 w-3/5" />
          </div>
        )}
        {answer.isError && <FaultNotice fault={answer.error} onRetry={ask} />}
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
