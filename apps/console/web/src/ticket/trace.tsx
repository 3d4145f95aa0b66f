import { Wrench } from "lucide-react";
import { Fragment, useMemo } from "react";
import type { Source, TicketDetail, ToolCall } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { describeReason } from "./describe-reason.ts";
import { flattenValues, readTrace } from "./read-ticket.ts";
import type { TraceRun } from "./read-ticket.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

/** Display of the states of a call. */
const TOOL_STATES = {
  waiting: { tone: "warn", title: "tool.waiting" },
  approved: { tone: "accent", title: "tool.isApproved" },
  running: { tone: "accent", title: "tool.running" },
  done: { tone: "ok", title: "tool.done" },
  failed: { tone: "bad", title: "tool.failed" },
  unknown: { tone: "bad", title: "tool.unknown" },
  rejected: { tone: "plain", title: "tool.isRejected" },
} as const satisfies Record<ToolCall["state"], { tone: Tone; title: TextKey }>;

/** A tool call, with the arguments that would be sent. */
function ToolCallView({ call }: { call: ToolCall }) {
  const { duration, t } = useTexts();
  const { tone, title } = TOOL_STATES[call.state];
  const args = flattenValues(call.arguments);
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <Wrench aria-hidden className="size-3.5 text-faint" />
        <code className="font-mono text-xs font-semibold">{call.tool}</code>
        <Badge tone={tone}>{t(title)}</Badge>
        {call.access === "write" && <Badge>{t("tool.write")}</Badge>}
        {call.ms !== null && <span className="text-xs text-faint">{duration(call.ms)}</span>}
      </p>
      {args.length > 0 && (
        <dl
          tabIndex={0}
          className="mt-1.5 grid max-h-40 grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 text-xs"
        >
          {args.map(({ label, text }) => (
            <Fragment key={label}>
              <dt className="text-muted">{label}</dt>
              <dd dir="auto" className="wrap-anywhere">
                {text}
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      {call.result !== null && (
        <pre
          tabIndex={0}
          dir="auto"
          className="mt-1 max-h-40 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 font-mono text-2xs whitespace-pre-wrap"
        >
          {call.result}
        </pre>
      )}
    </div>
  );
}

/** Tool calls of the agent that wait for an operator: made once, or never. */
export function ToolCalls({
  ticket,
  actions,
  mayWrite,
}: {
  ticket: TicketDetail;
  actions: TicketActions;
  mayWrite: boolean;
}) {
  const { t } = useTexts();
  const waiting = ticket.toolCalls.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return null;
  return (
    <section aria-label={t("tool.pending")} className="mt-4 rounded-xl border border-warn/40 bg-surface">
      <h3 className="border-b border-line bg-warn-soft px-4 py-2 text-sm font-semibold">{t("tool.pending")}</h3>
      <ul>
        {waiting.map((call) => (
          <li key={call.id} className="border-line px-4 py-3 not-first:border-t">
            <ToolCallView call={call} />
            {mayWrite && (
              <div className="mt-2 flex gap-1.5">
                <Button
                  variant="primary"
                  size="small"
                  isBusy={actions.busy === `tool-${call.id}`}
                  onClick={() => void actions.decideToolCall(call.id, true)}
                >
                  {t("tool.approve")}
                </Button>
                <Button
                  size="small"
                  isBusy={actions.busy === `tool-${call.id}`}
                  onClick={() => void actions.decideToolCall(call.id, false)}
                >
                  {t("tool.reject")}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Descriptions of stages; an unknown stage is shown by its name. */
const STAGES: ReadonlyMap<string, TextKey> = new Map([
  ["openTicket", "trace.opening"],
  ["heedVisitor", "trace.wishes"],
  ["triage", "state.triage"],
  ["triageAllProjects", "state.triage"],
  ["retrieve", "trace.searching"],
  ["answer", "trace.answering"],
  ["answerEarlier", "trace.answering"],
  ["gate", "trace.checking"],
  ["formatReply", "trace.formatting"],
  ["formatReview", "trace.formatting"],
  ["holdForReview", "trace.holding"],
  ["keepDraft", "trace.holding"],
  ["sendReply", "trace.sending"],
  ["sendReview", "trace.sending"],
]);
/** Descriptions of the purposes of model calls. */
const PURPOSES: ReadonlyMap<string, TextKey> = new Map([
  ["answer", "trace.answering"],
  ["triage", "state.triage"],
  ["notes", "trace.notes"],
]);

/** Returns the text for a name, or the name itself if there is none. */
const wordFor = (texts: ReadonlyMap<string, TextKey>, name: string, t: Texts["t"]) => {
  const key = texts.get(name);
  return key === undefined ? name : t(key);
};

function StageBars({ stages }: { stages: TraceRun["stages"] }) {
  const { duration, t } = useTexts();
  const totalMs = stages.reduce((sum, { ms }) => sum + ms, 0);
  const shown = stages.filter(({ ms }) => ms >= 0.05);
  if (shown.length === 0) return null;
  return (
    <ul aria-label={t("trace.times")} className="mt-2 flex flex-col gap-1">
      {shown.map(({ name, ms }) => (
        <li key={name} className="grid grid-cols-[6.5rem_minmax(0,1fr)_4rem] items-center gap-2 text-2xs text-muted">
          <span className="truncate" title={name}>
            {wordFor(STAGES, name, t)}
          </span>
          <span className="h-1.5 rounded-full bg-sunken">
            <span
              style={{ width: `${Math.max(2, (ms / totalMs) * 100)}%` }}
              className="block h-full rounded-full bg-accent/70"
            />
          </span>
          <span className="text-right tabular-nums">{duration(ms)}</span>
        </li>
      ))}
    </ul>
  );
}

function Run({ run, onSource }: { run: TraceRun; onSource: (source: Source) => void }) {
  const { dateTime, number, percent, t } = useTexts();
  const { nameOf } = usePeople();
  const { at, gate, passages, stages, triage } = run;
  const best = passages[0]?.score ?? 1;
  return (
    <section className="border-line py-3 not-first:border-t">
      <h3 className="text-xs font-semibold">
        <time dateTime={at}>{dateTime(at)}</time>
      </h3>
      {triage !== null && (
        <p className="mt-1.5 text-xs wrap-anywhere text-muted">
          <span className="font-medium text-ink">
            {triage.confidence === null
              ? t("trace.triage")
              : t("trace.triageSure", { share: percent(triage.confidence) })}
          </span>{" "}
          {describeReason(triage.why, { t, percent, nameOf })}
        </p>
      )}
      {passages.length > 0 && (
        <>
          <p className="mt-1.5 text-xs text-muted">
            <span className="font-medium text-ink">{t("trace.found", { n: passages.length })}</span>
          </p>
          <ul className="mt-1 flex flex-col">
            {passages.map(({ chunkId, score }, index) => (
              <li key={chunkId}>
                <button
                  type="button"
                  onClick={() => onSource({ title: t("trace.passage"), documentId: "", chunkId, quote: "" })}
                  className="flex h-5 w-full items-center gap-2 rounded text-2xs text-muted tabular-nums hover:bg-hover hover:text-ink"
                >
                  <span className="sr-only">{t("trace.passage")}</span>
                  <span className="w-3">{index + 1}</span>
                  <span aria-hidden className="h-1.5 flex-1 rounded-full bg-sunken">
                    <span
                      style={{ width: `${Math.max(2, (score / best) * 100)}%` }}
                      className="block h-full rounded-full bg-ok/60"
                    />
                  </span>
                  <span className="w-10 text-right">{number(score)}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {gate !== null && (
        <p className="mt-1.5 text-xs wrap-anywhere text-muted">
          <span className="font-medium text-ink">{t("trace.gate")}</span>{" "}
          <Badge tone={gate.sends ? "ok" : "warn"}>{t(gate.sends ? "trace.sent" : "trace.held")}</Badge>{" "}
          {describeReason(gate.why, { t, percent, nameOf })}
        </p>
      )}
      <StageBars stages={stages} />
    </section>
  );
}

/** The runs of the pipeline: the choice of triage, the passages, the durations, and the cost. */
export function Trace({ ticket, onSource }: { ticket: TicketDetail; onSource: (source: Source) => void }) {
  const { dateTime, duration, number, t } = useTexts();
  const runs = useMemo(() => readTrace(ticket), [ticket]);
  const { modelCalls, modelUsage, toolCalls } = ticket;
  return (
    <>
      {runs.length === 0 && <p className="py-4 text-sm text-muted">{t("trace.none")}</p>}
      {runs.map((run) => (
        <Run key={run.id} run={run} onSource={onSource} />
      ))}
      {toolCalls.length > 0 && (
        <section className="border-t border-line py-3">
          <h3 className="mb-1.5 text-xs font-semibold">{t("trace.tools")}</h3>
          <ul className="flex flex-col gap-3">
            {toolCalls.map((call) => (
              <li key={call.id}>
                <ToolCallView call={call} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {modelUsage.calls > 0 && (
        <section className="border-t border-line py-3">
          <h3 className="text-xs font-semibold">{t("trace.models")}</h3>
          <p className="mt-1 text-xs text-muted">
            {t("trace.usage", {
              calls: number(modelUsage.calls),
              input: number(modelUsage.inputTokens),
              output: number(modelUsage.outputTokens),
            })}
            {modelUsage.costUsd !== null && ` · $${modelUsage.costUsd.toFixed(4)}`}
          </p>
          <ul className="mt-1.5 flex flex-col gap-1">
            {modelCalls.map((call, index) => (
              <li key={index} className="text-2xs text-muted" title={dateTime(call.at)}>
                {wordFor(PURPOSES, call.purpose, t)} · {call.model} · {duration(call.ms)}
                {call.fault !== null && <span className="text-bad"> · {call.fault}</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
