import { useQuery, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, EyeOff, PenLine, RotateCcw, Lightbulb, Search } from "lucide-react";
import type { Gap, GapSort, GapStatus } from "@svc/contracts";
import { useDeferredValue, useState } from "react";
import { gapQuery, gapsQuery, markGap } from "../api/gaps.ts";
import { useTexts } from "../i18n/texts.ts";
import { useRowKeys } from "../lists/use-row-keys.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { describeReason } from "../ticket/describe-reason.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { describeError } from "../ui/describe-error.ts";
import { SelectField } from "../ui/field.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { ErrorNotice, Skeleton, EmptyState } from "../ui/notice.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";

function AnswerNow({ id }: { id: string }) {
  const { t, percent } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const gap = useQuery(gapQuery(connection, project, id));
  if (gap.isPending) return <Skeleton className="h-16 w-full" />;
  if (gap.isError) return <ErrorNotice error={gap.error} onRetry={() => void gap.refetch()} />;
  const { answerNow } = gap.data;
  if (answerNow === null) return <p className="text-sm text-muted">{t("gap.nobody")}</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
        <Badge tone={answerNow.sends ? "ok" : "warn"}>{t(answerNow.sends ? "search.sends" : "search.holds")}</Badge>
        {t("search.confidence", { share: percent(answerNow.confidence) })}
      </p>
      {answerNow.text !== null && (
        <div className="max-h-48 overflow-y-auto text-sm" tabIndex={0} role="region" aria-label={t("gap.answerNow")}>
          <Markdown text={answerNow.text} />
        </div>
      )}
      <p className="text-xs wrap-anywhere text-muted">
        {describeReason(answerNow.why, { t, percent, nameOf: String })}
      </p>
    </div>
  );
}

/** A question that found no good answer: how often, in which words, and what would be answered now. */
function GapRow({
  gap,
  isOpen,
  onToggle,
  onWrite,
  onMark,
}: {
  gap: Gap;
  isOpen: boolean;
  onToggle: () => void;
  onWrite: () => void;
  onMark: (status: Gap["status"]) => void;
}) {
  const { t, number } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const { count, examples, id, language, lastAt, question, status } = gap;
  return (
    <li>
      <div className="flex items-center gap-2 pr-3">
        <button
          type="button"
          data-row={id}
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex min-w-0 flex-1 items-center gap-3 rounded-lg py-2.5 pr-2 pl-3 text-left -outline-offset-2"
        >
          <ChevronRight
            aria-hidden
            className={`size-4 shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span
            className="flex h-6 min-w-8 shrink-0 items-center justify-center rounded-full bg-sunken px-2 text-xs font-semibold tabular-nums"
            title={t("gap.asked", { n: count })}
          >
            <span aria-hidden>{number(count)}</span>
            <span className="sr-only">{t("gap.asked", { n: count })}</span>
          </span>
          <span className={`min-w-0 flex-1 text-sm font-medium ${isOpen ? "wrap-anywhere" : "truncate"}`} dir="auto">
            {question}
          </span>
          <span className="shrink-0 text-xs text-muted max-sm:hidden">
            {language !== null && `${language.toUpperCase()} · `}
            <Ago time={lastAt} />
          </span>
        </button>
        {mayDo("kb:write") && (
          <Button size="small" onClick={onWrite} aria-label={t("gap.writeFor", { question })}>
            <PenLine aria-hidden className="size-3.5" />
            <span className="max-sm:sr-only">{t("gap.write")}</span>
          </Button>
        )}
      </div>
      {isOpen && (
        <div className="animate-appear grid gap-4 border-t border-line bg-page px-4 py-3.5 md:grid-cols-2">
          <section className="min-w-0">
            <h2 className="mb-1.5 text-xs font-semibold text-muted">{t("gap.examples")}</h2>
            <ul className="flex flex-col gap-1.5">
              {examples.map(({ at, text, ticketId }) => (
                <li key={`${ticketId} ${at}`} className="flex items-baseline gap-2 text-sm">
                  <span className="line-clamp-3 min-w-0 flex-1 wrap-anywhere" dir="auto">
                    {text}
                  </span>
                  <Link
                    to="/$project/inbox/$view/$ticketId"
                    params={{ project, view: "all", ticketId }}
                    className="shrink-0 text-xs font-medium text-accent hover:underline"
                  >
                    <span className="sr-only">{t("gap.ticket")} </span>
                    <Ago time={at} />
                  </Link>
                </li>
              ))}
            </ul>
          </section>
          <section className="min-w-0">
            <h2 className="mb-1.5 text-xs font-semibold text-muted">{t("gap.answerNow")}</h2>
            <AnswerNow id={id} />
          </section>
          {mayDo("tickets:write") && (
            <div className="flex gap-2 md:col-span-2">
              {status !== "ignored" && (
                <Button size="small" look="quiet" onClick={() => onMark("ignored")}>
                  <EyeOff aria-hidden className="size-3.5" />
                  {t("gap.ignore")}
                </Button>
              )}
              {status !== "open" && (
                <Button size="small" look="quiet" onClick={() => onMark("open")}>
                  <RotateCcw aria-hidden className="size-3.5" />
                  {t("gap.reopen")}
                </Button>
              )}
            </div>
          )}
        </div>
      )}
    </li>
  );
}

const ArticleDialog = lazyDialog(async () => (await import("./article-dialog.tsx")).ArticleDialog);

const STATUSES = ["open", "answered", "ignored"] as const satisfies readonly GapStatus[];

/** Questions that found no good answer, the most asked first, and articles for them. */
export function GapsPage() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const [status, setStatus] = useState<GapStatus>("open");
  const [sort, setSort] = useState<GapSort>("count");
  const [words, setWords] = useState("");
  const [writing, setWriting] = useState<Gap | null>(null);
  const q = useDeferredValue(words.trim());
  const gaps = useInfiniteQuery(gapsQuery(connection, { project, status, sort, q }));
  const items = gaps.data?.pages.flatMap((page) => page.items) ?? [];
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["gaps", project] });

  async function mark(gap: Gap, next: GapStatus, canUndo = true) {
    try {
      const marked = await markGap(connection, project, { ...gap, status: next });
      toasts.show({
        kind: "done",
        text: t(`gap.marked.${next}`),
        ...(canUndo ? { action: { label: t("ui.undo"), run: () => void mark(marked, gap.status, false) } } : {}),
      });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
    await refresh();
  }

  const { currentId, listRef, setCurrentId } = useRowKeys(items, (gap) => [
    ...(mayDo("kb:write")
      ? [{ id: "gap-write", title: t("gap.write"), group: "page" as const, keys: "w", run: () => setWriting(gap) }]
      : []),
    ...(mayDo("tickets:write") && gap.status !== "ignored"
      ? [
          {
            id: "gap-ignore",
            title: t("gap.ignore"),
            group: "page" as const,
            keys: "i",
            run: () => void mark(gap, "ignored"),
          },
        ]
      : []),
  ]);

  return (
    <KnowledgeFrame>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <ChoiceGroup
          label={t("gap.status")}
          hidesLabel
          value={status}
          onChange={(next) => {
            setCurrentId(null);
            setStatus(next);
          }}
          options={STATUSES.map((value) => ({ value, label: t(`gap.${value}`) }))}
          className="w-full sm:w-72"
        />
        <label className="relative min-w-0 flex-1 basis-48">
          <span className="sr-only">{t("gap.find")}</span>
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <input
            type="search"
            value={words}
            placeholder={t("gap.find")}
            onChange={({ currentTarget }) => {
              setCurrentId(null);
              setWords(currentTarget.value);
            }}
            className="h-8 w-full rounded-md border border-edge bg-surface pr-2 pl-8 text-base md:text-sm"
          />
        </label>
        <SelectField
          label={t("gap.sort")}
          hidesLabel
          value={sort}
          onChange={({ currentTarget }) => setSort(currentTarget.value as GapSort)}
          options={[
            { value: "count", label: t("gap.byCount") },
            { value: "lastAt", label: t("gap.byTime") },
          ]}
        />
      </div>
      {gaps.isError && gaps.data === undefined && (
        <ErrorNotice error={gaps.error} onRetry={() => void gaps.refetch()} />
      )}
      {gaps.isPending && (
        <div aria-busy className="flex flex-col gap-2">
          {[0, 1, 2, 3, 4].map((row) => (
            <Skeleton key={row} className="h-11 w-full rounded-lg" />
          ))}
        </div>
      )}
      {gaps.isSuccess && items.length === 0 && (
        <EmptyState
          icon={Lightbulb}
          title={t(q === "" ? `gap.none.${status}` : "knowledge.noMatch")}
          text={t(q === "" ? "gap.noneText" : "knowledge.noMatchText")}
        />
      )}
      {items.length > 0 && (
        <ul ref={listRef} className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
          {items.map((gap) => (
            <GapRow
              key={gap.id}
              gap={gap}
              isOpen={gap.id === currentId}
              onToggle={() => setCurrentId(gap.id === currentId ? null : gap.id)}
              onWrite={() => setWriting(gap)}
              onMark={(next) => void mark(gap, next)}
            />
          ))}
        </ul>
      )}
      {gaps.hasNextPage && (
        <div className="mt-4 flex justify-center">
          <Button isBusy={gaps.isFetchingNextPage} onClick={() => void gaps.fetchNextPage()}>
            {t("ui.more")}
          </Button>
        </div>
      )}
      {writing !== null && (
        <ArticleDialog gap={writing} onWritten={() => void refresh()} onClose={() => setWriting(null)} />
      )}
    </KnowledgeFrame>
  );
}
