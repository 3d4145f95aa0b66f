import { useInfiniteQuery } from "@tanstack/react-query";
import { Lightbulb, Search } from "lucide-react";
import { Suspense, lazy, useDeferredValue, useState } from "react";
import type { Gap, GapSort, GapStatus } from "@svc/contracts";
import { gapsQuery, markGap } from "../api/gaps.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-group.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { SelectField } from "../ui/field.tsx";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { GapRow } from "./gap-row.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";
import { useRowKeys } from "./use-row-keys.ts";

const ArticleDialog = lazy(async () => ({ default: (await import("./article-dialog.tsx")).ArticleDialog }));

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
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
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
        <FaultNotice fault={gaps.error} onRetry={() => void gaps.refetch()} />
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
      <Suspense fallback={<PendingDialog />}>
        {writing !== null && (
          <ArticleDialog gap={writing} onWritten={() => void refresh()} onClose={() => setWriting(null)} />
        )}
      </Suspense>
    </KnowledgeFrame>
  );
}
