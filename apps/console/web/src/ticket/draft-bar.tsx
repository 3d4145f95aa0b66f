import { useQuery } from "@tanstack/react-query";
import { Bot, ExternalLink, FileText, RefreshCw, ThumbsDown } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ReactNode, RefObject } from "react";
import { ServiceError } from "@svc/client";
import type { Source, TicketDetail, TicketDraft } from "@svc/contracts";
import { agentTitle } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useServices } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Markdown, OutLink, PlainText } from "../ui/markdown.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { describeReason, describeWeakDraft, shownBelow } from "./describe-reason.ts";
import { splitQuote } from "./read-ticket.ts";

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
function DraftHead({
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

function QuotedPassage({ text, quote, mark }: { text: string; quote: string; mark: RefObject<HTMLElement | null> }) {
  const parts = splitQuote(text, quote);
  return (
    <>
      {parts.before}
      <mark ref={mark}>{parts.quote}</mark>
      {parts.after}
    </>
  );
}

/** Reads a passage with those around it; null if its document was changed or deleted since. */
function usePassage(project: string, id: string) {
  const { connection } = useServices();
  return useQuery({
    queryKey: ["passage", project, id],
    queryFn: async ({ signal }) => {
      try {
        return (await connection.call("getPassage", project, { params: { id }, signal })).item;
      } catch (error) {
        if (error instanceof ServiceError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** The passage of a quote, highlighted, between the passages around it. */
export function SourceDialog({
  source,
  ticket,
  onClose,
}: {
  source: Source;
  ticket: TicketDetail;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const mark = useRef<HTMLElement>(null);
  const passage = usePassage(ticket.project, source.chunkId);
  const isThere = passage.isSuccess;
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [isThere]);
  const found = passage.data ?? null;
  const passages = found?.passages ?? [{ id: source.chunkId, headingPath: [], text: source.quote, page: null }];
  return (
    <Dialog title={found?.title ?? source.title} onClose={onClose}>
      <div className="px-5 py-4">
        {passage.isPending ? (
          <Skeleton className="h-40 w-full" />
        ) : (
          <ol className="flex flex-col gap-4">
            {passages.map(({ headingPath, id, page, text }, index) => (
              <li key={id} className={id === source.chunkId ? "" : "text-muted"}>
                {headingPath.length > 0 && headingPath.join() !== passages[index - 1]?.headingPath.join() && (
                  <h3 dir="auto" className="mb-1 text-xs font-semibold text-ink">
                    {headingPath.join(" › ")}
                    {page !== null && page !== undefined && ` · ${t("source.page", { page })}`}
                  </h3>
                )}
                <div dir="auto" className="text-sm leading-relaxed wrap-anywhere whitespace-pre-wrap">
                  {id === source.chunkId ? <QuotedPassage text={text} quote={source.quote} mark={mark} /> : text}
                </div>
              </li>
            ))}
          </ol>
        )}
        {passage.isError && (
          <div className="mt-3">
            <ErrorNotice error={passage.error} onRetry={() => void passage.refetch()} />
          </div>
        )}
        {isThere && found === null && <p className="mt-3 text-xs text-muted">{t("source.gone")}</p>}
        {source.url !== undefined && (
          <p className="mt-4 flex items-center gap-1.5 text-sm text-accent">
            <ExternalLink aria-hidden className="size-4" />
            <OutLink href={source.url}>{t("source.open")}</OutLink>
          </p>
        )}
      </div>
    </Dialog>
  );
}
