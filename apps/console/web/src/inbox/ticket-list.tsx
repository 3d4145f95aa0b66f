import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { PartyPopper, SearchX } from "lucide-react";
import { useEffect, useLayoutEffect, useRef } from "react";
import type { TicketItem } from "@svc/contracts";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { useInbox } from "./inbox-context.ts";
import { rowsMoved } from "./rows-moved.ts";
import { TicketRow } from "./ticket-row.tsx";
import { useFetchAhead } from "./use-fetch-ahead.ts";
import type { useTicketList } from "./use-ticket-list.ts";

const ROW_PX = 78;
/** The next page is asked for so many rows before its place comes into sight. */
const AHEAD_ROWS = 40;
const OVERSCAN_ROWS = 8;

function RowSkeleton() {
  return (
    <div className="flex h-full flex-col justify-center gap-2 border-b border-line px-4">
      <Skeleton className="h-3 w-28" />
      <Skeleton className="h-3.5 w-full" />
      <Skeleton className="h-3 w-40" />
    </div>
  );
}

/** The tickets of the list; as many as there are, only those in sight are drawn. */
export function TicketList({
  list,
  currentId,
  selected,
  onToggle,
  empty,
  isFiltered,
  showsProjects,
}: {
  list: ReturnType<typeof useTicketList>;
  currentId: string | null;
  selected: ReadonlySet<string>;
  onToggle: (id: string) => void;
  /** What is said where there is no ticket. */
  empty: TextKey;
  isFiltered: boolean;
  /** True for a list of several projects. */
  showsProjects: boolean;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const queryClient = useQueryClient();
  const { me, nameOf } = usePeople();
  const { view, search } = useInbox();
  const { error, fetchNextPage, hasNextPage, isError, isFetchingNextPage, isPending, items, refetch } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const count = items.length + (hasNextPage ? 3 : 0);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
    getItemKey: (index) => items[index]?.id ?? `place-${index}`,
  });
  const rows = virtual.getVirtualItems();
  const lastRow = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isError && lastRow + AHEAD_ROWS >= items.length) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isError, isFetchingNextPage, items.length, lastRow]);

  const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: 0 };
  // What comes in, or goes, above must not move what is read further down.
  const shown = useRef({ items, first: startIndex, last: endIndex });
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = shown.current;
    shown.current = { items, first: startIndex, last: endIndex };
    if (element === null || before.items === items || element.scrollTop < ROW_PX) return;
    element.scrollTop += rowsMoved(before.items, before, items) * ROW_PX;
  }, [items, startIndex, endIndex]);

  const currentIndex = items.findIndex(({ id }) => id === currentId);
  useEffect(() => {
    if (currentIndex >= 0) virtual.scrollToIndex(currentIndex, { align: "auto" });
    // The place follows the ticket that is chosen, not the list as it changes.
  }, [currentId]);
  const { id: nextId, project: nextProject } = (currentIndex < 0 ? undefined : items[currentIndex + 1]) ?? {};
  const prefetch = ({ id, project }: Pick<TicketItem, "id" | "project">) =>
    void queryClient.prefetchQuery(ticketQuery(connection, project, id));
  useEffect(() => {
    if (nextId === undefined || nextProject === undefined) return;
    void queryClient.prefetchQuery(ticketQuery(connection, nextProject, nextId));
  }, [connection, nextId, nextProject, queryClient]);
  useFetchAhead(items.slice(startIndex, endIndex + 1));

  if (isError && items.length === 0) {
    return (
      <div className="p-3">
        <FaultNotice fault={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (!isPending && items.length === 0) {
    return isFiltered ? (
      <EmptyState icon={SearchX} title={t("empty.filteredTitle")} text={t("empty.filtered")} />
    ) : (
      <EmptyState icon={PartyPopper} title={t("empty.title")} text={t(empty)} />
    );
  }
  return (
    <div ref={scroller} aria-busy={isPending} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {isPending ? (
        <div aria-label={t("ui.loading")} role="status">
          {[0, 1, 2, 3, 4, 5, 6, 7].map((row) => (
            <div key={row} style={{ height: ROW_PX }}>
              <RowSkeleton />
            </div>
          ))}
        </div>
      ) : (
        <ul style={{ height: virtual.getTotalSize() }} className="relative w-full">
          {rows.map(({ index, key, start }) => {
            const ticket = items[index];
            return (
              <li
                key={key}
                style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 top-0"
              >
                {ticket === undefined ? (
                  <RowSkeleton />
                ) : (
                  <TicketRow
                    ticket={ticket}
                    showsProject={showsProjects}
                    view={view}
                    search={search}
                    assigneeName={ticket.assignee === null ? null : nameOf(ticket.assignee)}
                    me={me}
                    nameOf={nameOf}
                    isCurrent={ticket.id === currentId}
                    isSelected={selected.has(ticket.id)}
                    onToggle={onToggle}
                    onPoint={prefetch}
                  />
                )}
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
