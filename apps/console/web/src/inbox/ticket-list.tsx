import { Link } from "@tanstack/react-router";
import type { TicketItem } from "@svc/contracts";
import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { PartyPopper, SearchX } from "lucide-react";
import { useEffect, useLayoutEffect, useRef } from "react";
import { ticketQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { usePeople, useServices, useTagColor } from "../session/services.ts";
import { Ago, Avatar, TagChip } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { customerName, isTask, snippetOf, taskPerson, waitingSince } from "./describe-ticket.ts";
import type { InboxSearch } from "./views.ts";
import {
  ChannelMark,
  ConfidenceMark,
  DeadlineMark,
  DueMark,
  PriorityMark,
  StateMark,
  UnsentMark,
  WaitingMark,
} from "./ticket-marks.tsx";
import { useInbox, rowShift, usePrefetch } from "./use-ticket-list.ts";
import type { useTicketList } from "./use-ticket-list.ts";

/**
 * The customer's initials with the channel at the corner. While the row is hovered, its checkbox is focused, or it is
 * selected, the checkbox is shown instead.
 */
function RowAvatar({ ticket, name, isSelected }: { ticket: TicketItem; name: string; isSelected: boolean }) {
  return (
    <span
      className={`relative flex shrink-0 group-hover:opacity-0 group-has-[input:focus-visible]:opacity-0 ${isSelected ? "opacity-0" : ""}`}
    >
      <Avatar name={name} size="large" />
      <span className="absolute -right-1 -bottom-1 flex rounded-full bg-surface p-0.5">
        <ChannelMark ticket={ticket} />
      </span>
    </span>
  );
}

/** A ticket in the list. */
// oxlint-disable-next-line max-lines-per-function -- the markup of one row
function TicketRow({
  ticket,
  showsProject,
  view,
  search,
  assigneeName,
  me,
  nameOf,
  colorOf,
  isCurrent,
  isSelected,
  onToggle,
  onPoint,
}: {
  ticket: TicketItem;
  /** True in a list of several projects. */
  showsProject: boolean;
  view: string;
  search: InboxSearch;
  assigneeName: string | null;
  /** The actor who views the list, and the names of others. */
  me: string;
  nameOf: (actor: string) => string;
  colorOf: ReturnType<typeof useTagColor>;
  isCurrent: boolean;
  isSelected: boolean;
  onToggle: (id: string) => void;
  /** Called when the ticket is likely to be opened next. */
  onPoint: (ticket: TicketItem) => void;
}) {
  const { t } = useTexts();
  const { confidence, id, priority, project, subject, tags, updatedAt } = ticket;
  const subjectText = subject === "" ? t("ticket.noSubject") : subject;
  const name = customerName(ticket, t);
  const person = isTask(ticket) ? taskPerson(ticket) : null;
  const snippet = snippetOf(ticket, { me, nameOf, t });
  const since = waitingSince(ticket);
  const isWaitingForPerson = ticket.stage === "review" || ticket.stage === "failed";
  return (
    <div
      className={`group relative h-full border-b border-line ${isSelected ? "bg-accent-soft" : isCurrent ? "bg-hover" : ""}`}
    >
      {isCurrent && <span aria-hidden className="absolute inset-y-0 left-0 w-0.75 bg-accent" />}
      <Link
        to="/$project/inbox/$view/$ticketId"
        params={{ project, view, ticketId: id }}
        search={search}
        aria-current={isCurrent ? "true" : undefined}
        onPointerEnter={() => onPoint(ticket)}
        className="flex h-full items-center gap-2.5 py-2 pr-3 pl-3 hover:bg-hover focus-visible:-outline-offset-2"
      >
        <RowAvatar ticket={ticket} name={name} isSelected={isSelected} />
        <span className="flex min-w-0 flex-1 flex-col gap-0.5">
          <span className="flex items-center gap-1.5 text-xs text-muted">
            <span className="min-w-0 grow truncate font-medium">
              {isTask(ticket) && name !== t("task.title") && `${t("task.title")} · `}
              <bdi>{name}</bdi>
              {person !== null && (
                <>
                  {" · "}
                  <bdi title={t("task.for", { person })}>{person}</bdi>
                </>
              )}
            </span>
            {/* The name has room first; tags show what is left. */}
            {tags.length > 0 && (
              <span className="flex min-w-0 shrink-999 justify-end gap-1.5 overflow-hidden">
                {tags.slice(0, 2).map((tag) => (
                  <TagChip key={tag} name={tag} color={colorOf(tag, project)} className="max-w-20" />
                ))}
              </span>
            )}
            {showsProject && (
              <span
                title={t("ticket.inProject", { project })}
                className="max-w-28 truncate rounded bg-sunken px-1.5 text-2xs"
              >
                {project}
              </span>
            )}
            {/* The text of the open ticket is in view. */}
            {!isCurrent && <UnsentMark ticketId={id} />}
            <PriorityMark priority={priority} />
            <DeadlineMark deadline={ticket.deadline} />
            {since === null ? (
              <Ago time={updatedAt} className="shrink-0 text-faint tabular-nums" />
            ) : (
              <WaitingMark since={since} />
            )}
          </span>
          <span className="flex gap-2">
            <span className="min-w-0 flex-1">
              <span
                dir="auto"
                className={`text-sm text-ink ${snippet === null ? "line-clamp-2" : "block truncate"} ${isWaitingForPerson ? "font-semibold" : "font-medium"}`}
              >
                {subjectText}
              </span>
              {snippet !== null && (
                <span dir="auto" className="block truncate text-xs leading-5 text-muted">
                  {snippet}
                </span>
              )}
            </span>
            <span className="flex h-10 shrink-0 flex-col items-end">
              <span className="flex h-5 items-center">
                {/* In a view of reviews every row would have the same state. */}
                {!(view === "review" && ticket.stage === "review") && <StateMark ticket={ticket} />}
              </span>
              <span className="flex h-5 items-center gap-1.5">
                {isTask(ticket) ? <DueMark ticket={ticket} /> : <ConfidenceMark confidence={confidence} />}
                {assigneeName !== null && (
                  <Avatar name={assigneeName} size="small" label={t("ticket.assignedTo", { name: assigneeName })} />
                )}
              </span>
            </span>
          </span>
        </span>
      </Link>
      <label className="absolute inset-y-0 left-0 flex w-14 items-center justify-center">
        <input
          type="checkbox"
          checked={isSelected}
          onChange={() => onToggle(id)}
          aria-label={t("inbox.select", { subject: subjectText })}
          className={`size-4 accent-(--accent) ${isSelected ? "" : "opacity-0 group-hover:opacity-100 focus-visible:opacity-100"}`}
        />
      </label>
    </div>
  );
}

const ROW_PX = 78;
/** The next page is requested this many rows before its position becomes visible. */
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

/** The tickets of the list, of which only visible ones are rendered. */
// oxlint-disable-next-line max-lines-per-function -- effects and markup of one virtual list
export function TicketList({
  list,
  currentId,
  selected,
  onToggle,
  empty,
  isFiltered,
  onSearchAll,
  showsProjects,
}: {
  list: ReturnType<typeof useTicketList>;
  currentId: string | null;
  selected: ReadonlySet<string>;
  onToggle: (id: string) => void;
  /** Text for an empty list. */
  empty: TextKey;
  isFiltered: boolean;
  /** Searches all tickets instead of the view; absent if that would find nothing more. */
  onSearchAll?: (() => void) | undefined;
  /** True for a list of several projects. */
  showsProjects: boolean;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const queryClient = useQueryClient();
  const { me, nameOf } = usePeople();
  const colorOf = useTagColor();
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
  // Tickets inserted or removed above must not move the rows that are being read.
  const shown = useRef({ items, first: startIndex, last: endIndex });
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = shown.current;
    shown.current = { items, first: startIndex, last: endIndex };
    if (element === null || before.items === items || element.scrollTop < ROW_PX) return;
    element.scrollTop += rowShift(before.items, before, items) * ROW_PX;
  }, [items, startIndex, endIndex]);

  const currentIndex = items.findIndex(({ id }) => id === currentId);
  useEffect(() => {
    if (currentIndex >= 0) virtual.scrollToIndex(currentIndex, { align: "auto" });
    // The position follows the selected ticket, not changes of the list.
  }, [currentId]);
  const { id: nextId, project: nextProject } = (currentIndex < 0 ? undefined : items[currentIndex + 1]) ?? {};
  const prefetch = ({ id, project }: Pick<TicketItem, "id" | "project">) =>
    void queryClient.prefetchQuery(ticketQuery(connection, project, id));
  useEffect(() => {
    if (nextId === undefined || nextProject === undefined) return;
    void queryClient.prefetchQuery(ticketQuery(connection, nextProject, nextId));
  }, [connection, nextId, nextProject, queryClient]);
  usePrefetch(items.slice(startIndex, endIndex + 1));

  if (isError && items.length === 0) {
    return (
      <div className="p-3">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (!isPending && items.length === 0) {
    return isFiltered ? (
      <EmptyState icon={SearchX} title={t("empty.filteredTitle")} text={t("empty.filtered")}>
        {onSearchAll !== undefined && <Button onClick={onSearchAll}>{t("empty.searchAll")}</Button>}
      </EmptyState>
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
                    colorOf={colorOf}
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
