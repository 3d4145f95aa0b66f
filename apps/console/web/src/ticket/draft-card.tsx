import { Bot, ChevronDown, FileText, TriangleAlert } from "lucide-react";
import type { Source, TicketDraft } from "@svc/contracts";
import { useId, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { describeReason, describeWeakDraft, shownBelow } from "./describe-reason.ts";

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

/**
 * The draft of an agent, how confident the agent is and from where it has the answer: to send, edit or dismiss. Below the
 * agent's threshold the draft is folded: the card says why the agent would not send it, and suggests writing a reply.
 */
export function DraftCard({
  agent,
  threshold,
  draft,
  mayWrite,
  busy,
  canApprove,
  onApprove,
  onEdit,
  onWrite,
  onRegenerate,
  onReject,
  onSource,
}: {
  /** Name of the agent; undefined where it is not known. */
  agent: string | undefined;
  /** The agent's threshold where the draft is below it; null where it is not. */
  threshold: number | null;
  draft: TicketDraft;
  mayWrite: boolean;
  busy: string | null;
  canApprove: boolean;
  onApprove: () => void;
  onEdit: () => void;
  onWrite: () => void;
  onRegenerate: () => void;
  onReject: () => void;
  onSource: (source: Source) => void;
}) {
  const { percent, t } = useTexts();
  const { nameOf } = usePeople();
  const bodyId = useId();
  const [isUnfolded, setUnfolded] = useState(false);
  const { confidence, isStale, markdown, sources, text, why } = draft;
  const isEmpty = text.trim() === "";
  const isWeak = threshold !== null;
  const isShown = !isWeak || isUnfolded;
  return (
    <section
      aria-label={t("draft.title")}
      className={`mt-4 overflow-hidden rounded-xl border bg-surface shadow-[0_1px_3px_rgb(15_17_25/0.06)] ${
        isWeak ? "border-line" : "border-accent/40"
      }`}
    >
      <header
        className={`flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 ${
          isWeak ? "bg-sunken/60" : "bg-accent-soft/50"
        }`}
      >
        <h3 className="flex items-center gap-1.5 text-sm font-semibold">
          <Bot aria-hidden className={`size-4 ${isWeak ? "text-faint" : "text-accent"}`} />
          {agent === undefined ? t("draft.title") : t("draft.of", { agent })}
        </h3>
        <span className="flex-1" />
        {confidence !== null && !isEmpty && !isWeak && <ConfidenceBar confidence={confidence} />}
      </header>
      {isStale && (
        <p className="flex items-start gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t("draft.stale")}
        </p>
      )}
      {isWeak && (
        <div className="px-4 pt-3 pb-2">
          <p className="text-sm">
            <span className="font-medium">
              {t("draft.weak", {
                share: percent(shownBelow(confidence ?? 0, threshold)),
                threshold: percent(threshold),
              })}
            </span>{" "}
            {describeWeakDraft({ why, place: sources[0]?.title }, { t, percent, nameOf })}
          </p>
          <button
            type="button"
            aria-expanded={isUnfolded}
            aria-controls={bodyId}
            onClick={() => setUnfolded(!isUnfolded)}
            className="mt-1.5 flex max-w-full items-center gap-1 rounded-sm text-xs font-medium text-muted hover:text-ink"
          >
            <ChevronDown
              aria-hidden
              className={`size-3.5 shrink-0 transition-transform ${isUnfolded ? "" : "-rotate-90"}`}
            />
            {t(isUnfolded ? "draft.fold" : "draft.unfold")}
          </button>
        </div>
      )}
      <div
        id={bodyId}
        hidden={!isShown}
        className={isShown && sources.length > 0 ? "@xl:grid @xl:grid-cols-[minmax(0,1fr)_15rem]" : ""}
      >
        <div className="min-w-0 px-4 py-3">
          {isEmpty ? (
            <p className="text-sm text-muted">{t("draft.empty")}</p>
          ) : markdown ? (
            <Markdown text={text} />
          ) : (
            <PlainText text={text} />
          )}
          {!isWeak && (
            <p className="mt-3 text-xs text-muted">
              <span className="font-medium">{t("draft.why")}</span> {describeReason(why, { t, percent, nameOf })}
            </p>
          )}
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
          {!isEmpty && isShown && (
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
