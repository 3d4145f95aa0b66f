import { Link } from "@tanstack/react-router";
import type { ReplayItem, ReplaySide, Agent, AgentChange } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { SubmitEvent } from "react";
import { replayInParts } from "@svc/client";
import type { ReplayProgress } from "@svc/client";
import { agentsQuery } from "../api/administration.ts";
import { useFields } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { ErrorNotice, Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { readNames } from "./tool-draft.ts";

const VERDICTS: Record<ReplayItem["verdict"], { title: TextKey; tone: Tone }> = {
  better: { title: "replay.better", tone: "ok" },
  worse: { title: "replay.worse", tone: "bad" },
  same: { title: "replay.same", tone: "plain" },
};

function Side({ title, side }: { title: string; side: ReplaySide }) {
  const { percent, t } = useTexts();
  const { confidence, markdown, model, sends, sendsWhy, text, tokenF1 } = side;
  return (
    <div className="min-w-0 rounded-lg border border-line p-3">
      <h4 className="flex flex-wrap items-center justify-between gap-2 text-xs font-semibold">
        {title}
        <span title={sendsWhy}>
          <Badge tone={sends ? "ok" : "plain"}>{t(sends ? "replay.wouldSend" : "replay.wouldHold")}</Badge>
        </span>
      </h4>
      <div className="mt-1.5 max-h-60 overflow-y-auto text-sm wrap-anywhere" tabIndex={0} dir="auto">
        {text === null ? (
          <p className="text-muted">{t("replay.noAnswer")}</p>
        ) : markdown ? (
          <Markdown text={text} />
        ) : (
          <p className="whitespace-pre-line">{text}</p>
        )}
      </div>
      <p className="mt-2 text-xs text-muted">
        {[
          t("replay.sure", { share: percent(confidence) }),
          `${t("replay.nearness")}: ${percent(tokenF1)}`,
          ...(model === null ? [] : [model]),
        ].join(" · ")}
      </p>
    </div>
  );
}

/** A past reply: the question, the operator's reply, and the agent's answers before and after the change. */
function ReplayCard({ item }: { item: ReplayItem }) {
  const { dateTime, t } = useTexts();
  const project = useProject();
  const { after, before, decidedAt, question, sent, ticketId, verdict } = item;
  const { title, tone } = VERDICTS[verdict];
  return (
    <li className="flex flex-col gap-3 px-4 py-4">
      <div className="flex items-start gap-2">
        <Badge tone={tone}>{t(title)}</Badge>
        <p className="min-w-0 flex-1 text-sm font-medium wrap-anywhere whitespace-pre-line" dir="auto">
          {question}
        </p>
      </div>
      <div>
        <p className="mb-1 text-xs text-muted">
          {t("replay.sent")} · {dateTime(decidedAt)} ·{" "}
          <Link
            to="/$project/inbox/$view/$ticketId"
            params={{ project, view: "all", ticketId }}
            className="font-medium text-accent underline"
          >
            {t("replay.openTicket")}
          </Link>
        </p>
        <p
          className="max-h-40 overflow-y-auto rounded-lg bg-sunken px-3 py-2 text-sm wrap-anywhere whitespace-pre-line"
          tabIndex={0}
          dir="auto"
        >
          {sent.text}
        </p>
      </div>
      <div className="grid gap-3 md:grid-cols-2">
        <Side title={t("replay.before")} side={before} />
        <Side title={t("replay.after")} side={after} />
      </div>
    </li>
  );
}

const meanOf = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Numbers of a replay so far, before and after the change. */
function ReplaySummary({ replay: { items, usage } }: { replay: ReplayProgress }) {
  const { number, percent, t } = useTexts();
  const countOf = (verdict: "better" | "worse" | "same") => items.filter((item) => item.verdict === verdict).length;
  const both = (of: (side: ReplaySide) => number, write: (values: readonly number[]) => string) =>
    (["before", "after"] as const).map((side) => write(items.map((item) => of(item[side])))).join(" → ");
  const tokens = (["before", "after"] as const)
    .map((side) => number(usage[side].inputTokens + usage[side].outputTokens))
    .join(" → ");
  const facts = [
    { title: t("replay.better"), value: number(countOf("better")) },
    { title: t("replay.worse"), value: number(countOf("worse")) },
    { title: t("replay.same"), value: number(countOf("same")) },
    {
      title: t("replay.sends"),
      value: both(
        ({ sends }) => (sends ? 1 : 0),
        (values) => number(values.filter((value) => value === 1).length),
      ),
    },
    {
      title: t("replay.nearness"),
      value: both(
        ({ tokenF1 }) => tokenF1,
        (values) => percent(meanOf(values)),
      ),
    },
    { title: t("replay.usage"), value: tokens },
  ];
  return (
    <dl aria-label={t("replay.summary")} className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {facts.map(({ title, value }) => (
        <div key={title} className="rounded-lg bg-sunken px-3 py-2">
          <dt className="text-xs text-muted">{title}</dt>
          <dd className="text-sm font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const DEFAULT_LIMIT = 20;
/** Attributes of the field for the number of tickets. */
const LIMIT_FIELD = { type: "number", inputMode: "numeric", min: 1, max: 100, step: 1, required: true } as const;
const EDITS = "";
/** Time limit of a part, in milliseconds: short, so that the progress is visible. */
const PART_MS = 12_000;

/** Replays past tickets part by part; finished comparisons are kept after an error or `stop`. */
function useReplay(agentId: string) {
  const { connection } = useServices();
  const project = useProject();
  const [replay, setReplay] = useState<ReplayProgress | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(input: Parameters<typeof replayInParts>[1]) {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setRunning(true);
    setError(null);
    setReplay(null);
    try {
      const parts = replayInParts(
        (body) => connection.call("replayAgent", project, { params: { id: agentId }, body, signal }),
        input,
        (isAlone) => (isAlone ? undefined : PART_MS),
      );
      for await (const part of parts) setReplay(part);
    } catch (cause) {
      if (!signal.aborted) setError(cause);
    } finally {
      if (running.current === controller) setRunning(false);
    }
  }
  const isStopped = () => running.current?.signal.aborted !== false;
  return { replay, error, isRunning, isStopped, run, stop: () => running.current?.abort() };
}

/** The progress of a replay, its error, and its summary. */
function ReplayState({
  state: { replay, error, isRunning, isStopped },
  onRetry,
}: {
  state: ReturnType<typeof useReplay>;
  onRetry: () => void;
}) {
  const { t } = useTexts();
  const done = replay?.items.length ?? 0;
  const total = replay === null ? 0 : done + replay.left.length;
  return (
    <div aria-live="polite" aria-busy={isRunning} className="mt-4 flex flex-col gap-3 empty:mt-0">
      {isRunning && (
        <div>
          <progress
            aria-label={t("replay.title")}
            {...(replay === null ? {} : { value: done })}
            max={Math.max(1, total)}
            className="block h-1.5 w-full accent-accent"
          />
          {replay !== null && <p className="mt-1 text-xs text-muted">{t("replay.progress", { done, total })}</p>}
        </div>
      )}
      {error !== null && <ErrorNotice error={error} onRetry={onRetry} />}
      {!isRunning && replay !== null && total === 0 && <Notice>{t("replay.none")}</Notice>}
      {!isRunning && error === null && replay !== null && replay.left.length > 0 && (
        <Notice variant="warn">
          {t("replay.progress", { done, total })}
          {!isStopped() && ` ${t("replay.stuck")}`}
        </Notice>
      )}
      {replay !== null && done > 0 && <ReplaySummary replay={replay} />}
    </div>
  );
}

/**
 * Replays past tickets with the unsaved changes of the editor, or with another agent, and compares with the saved
 * agent.
 */
export function ReplaySection({ agent, changes }: { agent: Agent; changes: AgentChange }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const agents = useQuery(agentsQuery(connection, useProject()));
  const { values, field } = useFields({ againstId: EDITS, limit: String(DEFAULT_LIMIT), tickets: "" });
  const state = useReplay(agent.id);
  const { replay, isRunning } = state;
  const isUnchanged = values.againstId === EDITS && Object.keys(changes).length === 0;

  function run() {
    const ticketIds = readNames(values.tickets);
    void state.run({
      against: values.againstId === EDITS ? changes : { agentId: values.againstId },
      limit: Number(values.limit),
      ...(ticketIds === null ? {} : { ticketIds }),
    });
  }
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!isRunning && !isUnchanged) run();
  }
  const others = (agents.data ?? [])
    .filter(({ id }) => id !== agent.id)
    .map(({ id, name }) => ({ value: id, label: name }));

  return (
    <Section title={t("replay.title")} text={t("replay.text")}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label={t("replay.against")}
            options={[{ value: EDITS, label: t("replay.edits") }, ...others]}
            {...(isUnchanged ? { hint: t("replay.nothing") } : {})}
            {...field("againstId")}
          />
          <Field label={t("replay.limit")} {...LIMIT_FIELD} {...field("limit")} />
        </div>
        <TextArea
          label={t("replay.tickets")}
          hint={t("replay.ticketsHint")}
          rows={2}
          spellCheck={false}
          {...field("tickets")}
        />
        <div className="flex gap-2">
          <Button icon={History} type="submit" variant="primary" isBusy={isRunning} disabled={isUnchanged}>
            {t("replay.run")}
          </Button>
          {isRunning && <Button onClick={state.stop}>{t("replay.stop")}</Button>}
        </div>
      </form>
      <ReplayState state={state} onRetry={run} />
      {replay !== null && replay.items.length > 0 && (
        <ul className="mt-4 divide-y divide-line rounded-lg border border-line">
          {replay.items.map((item) => (
            <ReplayCard key={item.messageId} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}
