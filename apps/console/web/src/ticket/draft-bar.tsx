import { Bot, FileText, RefreshCw, ThumbsDown } from "lucide-react";
import type { Source, TicketDraft } from "@svc/contracts";
import type { ReactNode } from "react";
import { agentTitle } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { describeReason, describeWeakDraft, shownBelow } from "./describe-reason.ts";

/** A draft, with the facts of its agent that the page shows. */
export interface ShownDraft {
  item: TicketDraft;
  /** Name of the agent, if it is known. */
  agent: string | undefined;
  /** The agent's threshold if the confidence of the draft is below it, otherwise null. */
  threshold: number | null;
}

/** Returns true if the composer opens with the draft: it has a text, answers the latest message, and is not weak. */
export const isReadyToSend = ({ item, threshold }: ShownDraft): boolean =>
  item.text.trim() !== "" && !item.isStale && threshold === null;

/** Minimum confidence of a green bar, and of a yellow one. */
const HIGH_CONFIDENCE = 0.8;
const MEDIUM_CONFIDENCE = 0.5;

function ConfidenceBar({ confidence }: { confidence: number }) {
  const { percent, t } = useTexts();
  const tone = confidence >= HIGH_CONFIDENCE ? "bg-ok" : confidence >= MEDIUM_CONFIDENCE ? "bg-warn" : "bg-bad";
  return (
    <span className="flex items-center gap-2 text-xs font-medium text-muted tabular-nums">
      <span
        role="meter"
        aria-label={t("draft.confidence")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(confidence * 100)}
        className="block h-1.5 w-12 overflow-hidden rounded-full bg-line"
      >
        <span style={{ width: `${confidence * 100}%` }} className={`block h-full rounded-full ${tone}`} />
      </span>
      {percent(confidence)}
    </span>
  );
}

/** Numbered chips of the passages that an answer quotes. Each opens its passage. */
export function SourceChips({ sources, onSource }: { sources: readonly Source[]; onSource: (source: Source) => void }) {
  const { t } = useTexts();
  if (sources.length === 0) return null;
  return (
    <ul aria-label={t("draft.sources")} className="mt-2 flex flex-wrap gap-1">
      {sources.map((source, index) => (
        <li key={`${source.chunkId}-${index}`} className="max-w-full">
          <button
            type="button"
            onClick={() => onSource(source)}
            title={t("draft.openSource", { title: source.title })}
            className="flex max-w-56 items-center gap-1 rounded border border-line bg-surface/70 px-1.5 py-0.5 text-2xs font-medium text-muted hover:bg-surface hover:text-ink"
          >
            <span aria-hidden className="tabular-nums">
              {index + 1}
            </span>
            <FileText aria-hidden className="size-3 shrink-0" />
            <span dir="auto" className="truncate">
              {source.title}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Explains why a draft was held. */
function DraftReason({ draft: { item, threshold } }: { draft: ShownDraft }) {
  const { percent, t } = useTexts();
  const { nameOf } = usePeople();
  const { confidence, isStale, sources, text, why } = item;
  const words = { t, percent, nameOf };
  if (text.trim() === "")
    return `${t("draft.why")} ${describeReason(why, words).replace(/[^.!?]$/u, "$&.")} ${t("draft.empty")}`;
  if (isStale) return t("draft.stale");
  if (threshold === null) return `${t("draft.why")} ${describeReason(why, words)}`;
  const shares = { share: percent(shownBelow(confidence ?? 0, threshold)), threshold: percent(threshold) };
  return (
    <>
      <span className="font-medium">{t("draft.weak", shares)}</span>{" "}
      {describeWeakDraft({ why, title: sources[0]?.title }, words)}
    </>
  );
}

/** The agent of a draft, its confidence, and why it was held. */
export function DraftHead({
  draft,
  children,
}: {
  draft: ShownDraft;
  /** Buttons next to the title. */
  children?: ReactNode;
}) {
  const { t } = useTexts();
  const { agent, item, threshold } = draft;
  const isWeak = threshold !== null;
  const isEmpty = item.text.trim() === "";
  const title = agent === undefined ? t("draft.title") : t("draft.of", { agent: agentTitle(agent, t) });
  return (
    <div
      className={`mb-2 rounded-lg px-3 py-1.5 ${item.isStale ? "bg-warn-soft" : isWeak ? "bg-sunken" : "bg-accent-soft/60"}`}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <h3 className="flex min-w-0 items-center gap-1.5 text-xs font-semibold">
          <Bot aria-hidden className={`size-4 shrink-0 ${isWeak ? "text-muted" : "text-accent"}`} />
          <span className="truncate">{isEmpty ? t("draft.noAnswer") : title}</span>
        </h3>
        {!isWeak && !isEmpty && item.confidence !== null && <ConfidenceBar confidence={item.confidence} />}
        <div className="ml-auto flex shrink-0 items-center gap-x-1">{children}</div>
      </div>
      <p className="line-clamp-3 text-xs text-muted">
        <DraftReason draft={draft} />
      </p>
    </div>
  );
}

/** Handlers of the buttons of a draft. */
export interface DraftHandlers {
  regenerate: () => void;
  openDialog: (dialog: "reject") => void;
}

/** Bar above the composer's field: agent, confidence and reason of the draft, and buttons for all but sending it. */
export function DraftBar({
  draft,
  busy,
  handlers,
  onUse,
}: {
  draft: ShownDraft;
  busy: string | null;
  handlers: DraftHandlers;
  /** Puts the draft into the field. Null if it is already there, or has no text. */
  onUse: (() => void) | null;
}) {
  const { t } = useTexts();
  return (
    <DraftHead draft={draft}>
      {onUse !== null && (
        <Button size="small" onClick={onUse}>
          {t("draft.use")}
        </Button>
      )}
      <IconButton
        icon={RefreshCw}
        size="small"
        label={t("action.regenerate")}
        keys="shift+g"
        aria-busy={busy === "regenerate"}
        className="aria-busy:animate-pulse"
        onClick={handlers.regenerate}
      />
      <IconButton
        icon={ThumbsDown}
        size="small"
        label={t("action.reject")}
        keys="shift+x"
        onClick={() => handlers.openDialog("reject")}
      />
    </DraftHead>
  );
}

/** A draft for operators who may only read. */
export function DraftView({ draft, onSource }: { draft: ShownDraft; onSource: (source: Source) => void }) {
  const { t } = useTexts();
  const { markdown, sources, text } = draft.item;
  return (
    <section aria-label={t("draft.title")} className="shrink-0 border-t border-line bg-surface">
      <div className="mx-auto max-w-3xl px-5 py-2.5 max-sm:px-3">
        <DraftHead draft={draft} />
        <div tabIndex={0} className="max-h-[40vh] overflow-y-auto">
          {markdown ? <Markdown text={text} /> : <PlainText text={text} />}
        </div>
        <SourceChips sources={sources} onSource={onSource} />
      </div>
    </section>
  );
}
