import { Bot, ChevronDown, FileText, TriangleAlert } from "lucide-react";
import type { Source, TicketDraft } from "@svc/contracts";
import { useId, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { describeReason, describeWeakDraft, shownBelow } from "./describe-reason.ts";

/** Confidence from which the bar is green, and yellow. */
const HIGH = 0.8;
const MEDIUM = 0.5;

function ConfidenceBar({ confidence }: { confidence: number }) {
  const { percent, t } = useTexts();
  const tone = confidence >= HIGH ? "bg-ok" : confidence >= MEDIUM ? "bg-warn" : "bg-bad";
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

/** What the buttons of a draft do. */
export interface DraftDoing {
  askToApprove: () => void;
  compose: (mode: "edit" | "reply") => void;
  regenerate: () => void;
  openDialog: (dialog: "reject") => void;
}

/** The buttons of a draft. */
function DraftActions({
  isEmpty,
  isWeak,
  isShown,
  canApprove,
  busy,
  doing: { askToApprove, compose, regenerate, openDialog },
}: {
  isEmpty: boolean;
  isWeak: boolean;
  isShown: boolean;
  canApprove: boolean;
  busy: string | null;
  doing: DraftDoing;
}) {
  const { t } = useTexts();
  return (
    <footer className="flex flex-wrap items-center gap-1.5 border-t border-line px-3 py-2.5">
      {(isEmpty || isWeak) && (
        <Button variant="primary" keys="r" onClick={() => compose("reply")}>
          {t("action.write")}
        </Button>
      )}
      {!isEmpty && isShown && (
        <>
          <Button
            variant={isWeak ? "plain" : "primary"}
            keys="a"
            disabled={!canApprove}
            isBusy={busy !== null}
            onClick={askToApprove}
          >
            {t("action.approve")}
          </Button>
          <Button keys="e" onClick={() => compose("edit")}>
            {t("action.edit")}
          </Button>
        </>
      )}
      <Button variant="quiet" isBusy={busy === "regenerate"} onClick={regenerate}>
        {t("action.regenerate")}
      </Button>
      <span className="flex-1" />
      <Button variant="quiet" onClick={() => openDialog("reject")}>
        {t("action.reject")}
      </Button>
    </footer>
  );
}

/** Why the agent would not send a draft, and the button that unfolds it. */
function WeakReason({
  draft: { confidence, sources, why },
  threshold,
  bodyId,
  isUnfolded,
  onToggle,
}: {
  draft: TicketDraft;
  threshold: number;
  /** ID of the element that is unfolded. */
  bodyId: string;
  isUnfolded: boolean;
  onToggle: () => void;
}) {
  const { percent, t } = useTexts();
  const { nameOf } = usePeople();
  const shares = { share: percent(shownBelow(confidence ?? 0, threshold)), threshold: percent(threshold) };
  return (
    <div className="px-4 pt-3 pb-2">
      <p className="text-sm">
        <span className="font-medium">{t("draft.weak", shares)}</span>{" "}
        {describeWeakDraft({ why, title: sources[0]?.title }, { t, percent, nameOf })}
      </p>
      <button
        type="button"
        aria-expanded={isUnfolded}
        aria-controls={bodyId}
        onClick={onToggle}
        className="mt-1.5 flex max-w-full items-center gap-1 rounded-sm text-xs font-medium text-muted hover:text-ink"
      >
        <ChevronDown
          aria-hidden
          className={`size-3.5 shrink-0 transition-transform ${isUnfolded ? "" : "-rotate-90"}`}
        />
        {t(isUnfolded ? "draft.fold" : "draft.unfold")}
      </button>
    </div>
  );
}

/** The text of a draft with the reason for its confidence, beside its sources. */
function DraftBody({
  id,
  draft: { markdown, sources, text, why },
  isHidden,
  isWeak,
  onSource,
}: {
  id: string;
  draft: TicketDraft;
  isHidden: boolean;
  isWeak: boolean;
  onSource: (source: Source) => void;
}) {
  const { percent, t } = useTexts();
  const { nameOf } = usePeople();
  const hasSources = sources.length > 0;
  return (
    <div
      id={id}
      hidden={isHidden}
      className={!isHidden && hasSources ? "@xl:grid @xl:grid-cols-[minmax(0,1fr)_15rem]" : ""}
    >
      <div className="min-w-0 px-4 py-3">
        {text.trim() === "" ? (
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
      {hasSources && (
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
  );
}

/** The agent of a draft, and its confidence. */
function DraftHead({
  agent,
  confidence,
  isWeak,
}: {
  agent: string | undefined;
  confidence: number | null;
  isWeak: boolean;
}) {
  const { t } = useTexts();
  return (
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
      {confidence !== null && <ConfidenceBar confidence={confidence} />}
    </header>
  );
}

/**
 * The draft of an agent, its confidence and its sources: to send, edit or dismiss. Below the agent's threshold the draft
 * is folded: the card says why the agent would not send it, and suggests writing a reply.
 */
export function DraftCard({
  agent,
  threshold,
  draft,
  doing,
  onSource,
  ...actions
}: {
  /** Name of the agent, if it is known. */
  agent: string | undefined;
  /** The agent's threshold if the draft is below it, else null. */
  threshold: number | null;
  draft: TicketDraft;
  canApprove: boolean;
  busy: string | null;
  /** Null if the operator may only read. */
  doing: DraftDoing | null;
  onSource: (source: Source) => void;
}) {
  const { t } = useTexts();
  const bodyId = useId();
  const [isUnfolded, setUnfolded] = useState(false);
  const { confidence, isStale } = draft;
  const isEmpty = draft.text.trim() === "";
  const isWeak = threshold !== null;
  const isShown = !isWeak || isUnfolded;
  return (
    <section
      aria-label={t("draft.title")}
      className={`mt-4 overflow-hidden rounded-xl border bg-surface shadow-[0_1px_3px_rgb(15_17_25/0.06)] ${
        isWeak ? "border-line" : "border-accent/40"
      }`}
    >
      <DraftHead agent={agent} confidence={isEmpty || isWeak ? null : confidence} isWeak={isWeak} />
      {isStale && (
        <p className="flex items-start gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t("draft.stale")}
        </p>
      )}
      {isWeak && (
        <WeakReason
          draft={draft}
          threshold={threshold}
          bodyId={bodyId}
          isUnfolded={isUnfolded}
          onToggle={() => setUnfolded(!isUnfolded)}
        />
      )}
      <DraftBody id={bodyId} draft={draft} isHidden={!isShown} isWeak={isWeak} onSource={onSource} />
      {doing !== null && (
        <DraftActions isEmpty={isEmpty} isWeak={isWeak} isShown={isShown} doing={doing} {...actions} />
      )}
    </section>
  );
}
