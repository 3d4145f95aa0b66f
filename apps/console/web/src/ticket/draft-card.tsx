import { Bot, FileText, TriangleAlert } from "lucide-react";
import type { Source, TicketDetail, TicketDraft } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { agentsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { describeReason } from "./describe-reason.ts";

/** From these shares on an answer counts as sure, and as half sure. */
const SURE = 0.8;
const HALF_SURE = 0.5;

function ConfidenceBar({ confidence }: { confidence: number }) {
  const { percent, t } = useTexts();
  const tone = confidence >= SURE ? "bg-ok" : confidence >= HALF_SURE ? "bg-warn" : "bg-bad";
  return (
    <span className="flex items-center gap-2 text-xs font-medium text-muted tabular-nums">
      <span
        role="meter"
        aria-label={t("draft.confidence")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(confidence * 100)}
        className="block h-1.5 w-16 overflow-hidden rounded-full bg-line"
      >
        <span style={{ width: `${confidence * 100}%` }} className={`block h-full rounded-full ${tone}`} />
      </span>
      {percent(confidence)}
    </span>
  );
}

/** A passage that the draft quotes. */
function SourceCard({ source, onSource }: { source: Source; onSource: (source: Source) => void }) {
  const { t } = useTexts();
  return (
    <button
      type="button"
      onClick={() => onSource(source)}
      title={t("draft.openSource", { title: source.title })}
      className="block w-full rounded-md border border-line bg-surface p-2 text-left hover:border-edge"
    >
      <span className="flex items-center gap-1.5 text-xs font-medium">
        <FileText aria-hidden className="size-3.5 shrink-0 text-faint" />
        <span dir="auto" className="truncate">
          {source.title}
        </span>
      </span>
      <span dir="auto" className="mt-1 line-clamp-3 text-xs text-muted">
        {source.excerpt ?? source.quote}
      </span>
    </button>
  );
}

/** What the agent would answer, how sure it is, and from where it has that: to send, to edit or to refuse. */
export function DraftCard({
  ticket,
  draft,
  mayWrite,
  busy,
  canApprove,
  isWeak,
  onApprove,
  onEdit,
  onWrite,
  onRegenerate,
  onReject,
  onSource,
}: {
  ticket: TicketDetail;
  draft: TicketDraft;
  mayWrite: boolean;
  busy: string | null;
  canApprove: boolean;
  /** True when the agent would not send it by itself: sending it is not what the card suggests. */
  isWeak: boolean;
  onApprove: () => void;
  onEdit: () => void;
  onWrite: () => void;
  onRegenerate: () => void;
  onReject: () => void;
  onSource: (source: Source) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const { nameOf } = usePeople();
  const { data: agents = [] } = useQuery(agentsQuery(connection, useProject()));
  const agent = agents.find(({ id }) => id === ticket.agentId)?.name;
  const { confidence, isStale, markdown, sources, text, why } = draft;
  const isEmpty = text.trim() === "";
  return (
    <section
      aria-label={t("draft.title")}
      className="mt-4 overflow-hidden rounded-xl border border-accent/40 bg-surface shadow-[0_1px_3px_rgb(15_17_25/0.06)]"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-accent-soft/50 px-4 py-2">
        <h3 className="flex items-center gap-1.5 text-sm font-semibold">
          <Bot aria-hidden className="size-4 text-accent" />
          {agent === undefined ? t("draft.title") : t("draft.of", { agent })}
        </h3>
        <span className="flex-1" />
        {confidence !== null && !isEmpty && <ConfidenceBar confidence={confidence} />}
      </header>
      {isStale && (
        <p className="flex items-start gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t("draft.stale")}
        </p>
      )}
      <div className={sources.length === 0 ? "" : "@xl:grid @xl:grid-cols-[minmax(0,1fr)_15rem]"}>
        <div className="min-w-0 px-4 py-3">
          {isEmpty ? (
            <p className="text-sm text-muted">{t("draft.empty")}</p>
          ) : markdown ? (
            <Markdown text={text} />
          ) : (
            <PlainText text={text} />
          )}
          <p className="mt-3 text-xs text-muted">
            <span className="font-medium">{t("draft.why")}</span> {describeReason(why, t, nameOf)}
          </p>
        </div>
        {sources.length > 0 && (
          <div className="min-w-0 border-line bg-page px-3 py-3 @max-xl:border-t @xl:border-l">
            <h4 className="mb-1.5 text-2xs font-semibold text-faint">{t("draft.sources")}</h4>
            <ul className="flex flex-col gap-1.5">
              {sources.map((source, index) => (
                <li key={`${source.chunkId}-${index}`}>
                  <SourceCard source={source} onSource={onSource} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      {mayWrite && (
        <footer className="flex flex-wrap items-center gap-1.5 border-t border-line px-3 py-2.5">
          {(isEmpty || isWeak) && (
            <Button look="primary" keys="r" onClick={onWrite}>
              {t("action.write")}
            </Button>
          )}
          {!isEmpty && (
            <>
              <Button
                look={isWeak ? "plain" : "primary"}
                keys="a"
                disabled={!canApprove}
                isBusy={busy !== null}
                onClick={onApprove}
              >
                {t("action.approve")}
              </Button>
              <Button keys="e" onClick={onEdit}>
                {t("action.edit")}
              </Button>
            </>
          )}
          <Button look="quiet" isBusy={busy === "regenerate"} onClick={onRegenerate}>
            {t("action.regenerate")}
          </Button>
          <span className="flex-1" />
          <Button look="quiet" onClick={onReject}>
            {t("action.reject")}
          </Button>
        </footer>
      )}
    </section>
  );
}
