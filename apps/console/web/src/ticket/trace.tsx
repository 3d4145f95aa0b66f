import { useMemo } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts, TextKey } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { describeReason } from "./describe-reason.ts";
import { readTrace } from "./read-ticket.ts";
import type { TraceRun } from "./read-ticket.ts";
import { ToolCallView } from "./tool-calls.tsx";

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
