import { useInfiniteQuery, usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, EyeOff, PenLine, RotateCcw, Lightbulb } from "lucide-react";
import type { Gap, GapSort, GapStatus } from "@svc/contracts";
import { useDeferredValue, useState } from "react";
import { gapQuery, gapsQuery, kbsQuery, markGap } from "../api/knowledge.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { Pages, itemsOf, useRowKeys } from "../lists/resource-page.tsx";
import { useServices, useProject, useRights } from "../session/services.ts";
import { describeReason } from "../ticket/describe-reason.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { SearchField, SelectField } from "../ui/field.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { EmptyState, QueryView } from "../ui/notice.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";

/** The current answer of the agents to a gap. */
function AnswerNow({ id }: { id: string }) {
  const { t, percent } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const gap = useQuery(gapQuery(connection, project, id));
  return (
    <QueryView query={gap} skeleton="h-16 w-full">
      {({ answerNow }) =>
        answerNow === null ? (
          <p className="text-sm text-muted">{t("gap.nobody")}</p>
        ) : (
          <div className="flex flex-col gap-2">
            <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
              <Badge tone={answerNow.sends ? "ok" : "warn"}>
                {t(answerNow.sends ? "search.sends" : "search.holds")}
              </Badge>
              {t("search.confidence", { share: percent(answerNow.confidence) })}
            </p>
            {answerNow.text !== null && (
              <div
                className="max-h-48 overflow-y-auto text-sm"
                tabIndex={0}
                role="region"
                aria-label={t("gap.answerNow")}
              >
                <Markdown text={answerNow.text} />
              </div>
            )}
            <p className="text-xs wrap-anywhere text-muted">
              {describeReason(answerNow.why, { t, percent, nameOf: String })}
            </p>
          </div>
        )
      }
    </QueryView>
  );
}

interface GapActions {
  onWrite: () => void;
  onMark: (status: Gap["status"]) => void;
}

/** The wordings of a gap, its answer now, and buttons that change its status. */
function GapDetails({ gap: { examples, id, status }, onMark }: { gap: Gap } & Pick<GapActions, "onMark">) {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  return (
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
            <Button icon={EyeOff} size="small" variant="quiet" onClick={() => onMark("ignored")}>
              {t("gap.ignore")}
            </Button>
          )}
          {status !== "open" && (
            <Button icon={RotateCcw} size="small" variant="quiet" onClick={() => onMark("open")}>
              {t("gap.reopen")}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** A question without a good answer, and how often it was asked; expanded, with its details. */
function GapRow({
  gap,
  isOpen,
  onToggle,
  onWrite,
  onMark,
}: GapActions & { gap: Gap; isOpen: boolean; onToggle: () => void }) {
  const { t, number } = useTexts();
  const mayDo = useRights();
  const { count, id, language, lastAt, question } = gap;
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
          <Button icon={PenLine} size="small" onClick={onWrite} aria-label={t("gap.writeFor", { question })}>
            <span className="max-sm:sr-only">{t("gap.write")}</span>
          </Button>
        )}
      </div>
      {isOpen && <GapDetails gap={gap} onMark={onMark} />}
    </li>
  );
}

const ArticleDialog = lazyDialog(async () => (await import("./article-dialog.tsx")).ArticleDialog);

const STATUSES = ["open", "answered", "ignored"] as const satisfies readonly GapStatus[];

/** Filter and order of the gaps. */
interface GapFilter {
  status: GapStatus;
  sort: GapSort;
  q: string;
}

function GapFilterBar({ filter, onChange }: { filter: GapFilter; onChange: (change: Partial<GapFilter>) => void }) {
  const { t } = useTexts();
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <ChoiceGroup
        label={t("gap.status")}
        hidesLabel
        value={filter.status}
        onChange={(status) => onChange({ status })}
        options={STATUSES.map((value) => ({ value, label: t(`gap.${value}`) }))}
        className="w-full sm:w-72"
      />
      <SearchField label={t("gap.find")} value={filter.q} onChange={(q) => onChange({ q })} className="basis-48" />
      <SelectField
        label={t("gap.sort")}
        hidesLabel
        value={filter.sort}
        onChange={(sort) => onChange({ sort })}
        options={[
          { value: "count", label: t("gap.byCount") },
          { value: "lastAt", label: t("gap.byTime") },
        ]}
      />
    </div>
  );
}

/** Returns a function that changes the status of a gap and offers to undo it, and one that refetches the gaps. */
function useMark() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { runAside } = useAction();
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["gaps", project] });
  async function mark(gap: Gap, next: GapStatus, canUndo = true) {
    await runAside(async () => {
      const marked = await markGap(connection, project, { ...gap, status: next });
      const undo = { action: { label: t("ui.undo"), run: () => void mark(marked, gap.status, false) } };
      toasts.show({ kind: "done", text: t(`gap.marked.${next}`), ...(canUndo ? undo : {}) });
    });
    await refresh();
  }
  return { mark, refresh };
}

/** Questions without a good answer, most frequent first, and articles that answer them. */
export function GapsPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const [filter, setFilter] = useState<GapFilter>({ status: "open", sort: "count", q: "" });
  const [writing, setWriting] = useState<Gap | null>(null);
  const q = useDeferredValue(filter.q.trim());
  const gaps = useInfiniteQuery(gapsQuery(connection, { ...filter, project, q }));
  // The dialog that writes an article can save at once.
  usePrefetchQuery(kbsQuery(connection, project));
  const items = itemsOf(gaps);
  const { mark, refresh } = useMark();
  const { currentId, listRef, setCurrentId } = useRowKeys(items, (gap) => [
    mayDo("kb:write") && { id: "gap-write", title: t("gap.write"), keys: "w", run: () => setWriting(gap) },
    mayDo("tickets:write") &&
      gap.status !== "ignored" && {
        id: "gap-ignore",
        title: t("gap.ignore"),
        keys: "i",
        run: () => void mark(gap, "ignored"),
      },
  ]);
  function changeFilter(change: Partial<GapFilter>) {
    if (change.sort === undefined) setCurrentId(null);
    setFilter({ ...filter, ...change });
  }

  return (
    <KnowledgeFrame>
      <GapFilterBar filter={filter} onChange={changeFilter} />
      <Pages
        query={gaps}
        skeleton="h-11 w-full rounded-lg"
        rows={5}
        empty={
          <EmptyState
            icon={Lightbulb}
            title={t(q === "" ? `gap.none.${filter.status}` : "knowledge.noMatch")}
            text={t(q === "" ? "gap.noneText" : "knowledge.noMatchText")}
          />
        }
      >
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
      </Pages>
      {writing !== null && (
        <ArticleDialog gap={writing} onWritten={() => void refresh()} onClose={() => setWriting(null)} />
      )}
    </KnowledgeFrame>
  );
}
