import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import type { Page } from "../api/connection.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { GroupCommand } from "../session/command-registry.ts";
import { useCommands } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { EmptyState, ErrorNotice, Notice, Skeletons } from "../ui/notice.tsx";

/**
 * Moves through the rows of a list with j and k: focuses the element with `data-row="<id>"`. `commandsOf` returns the
 * commands for the focused row.
 */
export function useRowKeys<Item extends { id: string }>(
  items: readonly Item[],
  commandsOf: (item: Item) => readonly (GroupCommand | false)[],
) {
  const { t } = useTexts();
  const listRef = useRef<HTMLUListElement>(null);
  const [currentId, setCurrentId] = useState<string | null>(null);
  const index = items.findIndex(({ id }) => id === currentId);
  const current = items[index];

  const focus = (id: string) =>
    listRef.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus({ preventScroll: false });
  const goTo = (item: Item | undefined) => {
    if (item === undefined) return;
    setCurrentId(item.id);
    focus(item.id);
  };
  // After the current row was removed, the row at its position becomes current.
  const last = useRef(0);
  useEffect(() => {
    if (index >= 0) {
      last.current = index;
      return;
    }
    const next = currentId === null ? undefined : items[Math.min(last.current, items.length - 1)];
    if (next !== undefined) setCurrentId(next.id);
  }, [index, currentId, items]);

  useCommands("list", [
    { id: "row-next", title: t("rows.next"), keys: "j", run: () => goTo(items[index + 1] ?? items[index]) },
    { id: "row-before", title: t("rows.before"), keys: "k", run: () => goTo(items[Math.max(0, index - 1)]) },
  ]);
  useCommands("page", current === undefined ? [] : commandsOf(current));
  return { listRef, currentId, setCurrentId };
}

/** The used part of the result of a paged query. */
type PagesQuery<Item> = Pick<
  UseInfiniteQueryResult<InfiniteData<Page<Item>>>,
  "data" | "error" | "isError" | "isPending" | "isSuccess" | "hasNextPage" | "isFetchingNextPage"
> & { fetchNextPage: () => Promise<unknown>; refetch: () => Promise<unknown> };

/** Returns the items of all loaded pages. */
export const itemsOf = <Item,>({ data }: Pick<PagesQuery<Item>, "data">): Item[] =>
  data?.pages.flatMap(({ items }) => items) ?? [];

/**
 * The items of pages with their states: a skeleton while they load, the error, `empty`, and a button for the next page.
 */
export function Pages({
  query,
  skeleton,
  rows = 4,
  empty,
  children,
}: {
  query: PagesQuery<unknown>;
  /** Classes of the skeleton of one item. */
  skeleton: string;
  /** Number of items of the skeleton. */
  rows?: number;
  empty: ReactNode;
  /** The items. Not shown if there are none. */
  children: ReactNode;
}) {
  const { t } = useTexts();
  const hasItems = itemsOf(query).length > 0;
  return (
    <div className="flex flex-col gap-4">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeletons count={rows} className={skeleton} />}
      {query.isSuccess && !hasItems && empty}
      {hasItems && children}
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()} className="self-center">
          {t("ui.more")}
        </Button>
      )}
    </div>
  );
}

/** Above the list: a description of the resources, or a search field, and the button that creates one. */
const ResourceHead = ({ head, children }: { head: ReactNode; children: ReactNode }) => (
  <div
    className={`mb-4 flex flex-wrap justify-between gap-3 ${typeof head === "string" ? "items-center" : "items-end"}`}
  >
    {typeof head === "string" ? <p className="max-w-2xl text-sm text-muted">{head}</p> : head}
    {children}
  </div>
);

/** The rows of resources, with their keyboard shortcuts. */
function ResourceRows<Item extends { id: string }>({
  items,
  label,
  commandsOf,
  children,
}: {
  items: readonly Item[];
  label: string;
  commandsOf: (item: Item) => readonly (GroupCommand | false)[];
  children: (item: Item) => ReactNode;
}) {
  const { listRef, setCurrentId } = useRowKeys(items, commandsOf);
  return (
    <ul
      ref={listRef}
      aria-label={label}
      className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
    >
      {items.map((item) => (
        <li
          key={item.id}
          data-row={item.id}
          tabIndex={-1}
          onFocus={() => setCurrentId(item.id)}
          className="px-3 py-2.5 -outline-offset-2 focus-within:bg-hover"
        >
          {children(item)}
        </li>
      ))}
    </ul>
  );
}

/**
 * A page of resources of one kind: text or search above, a button that creates one, and the list with its keyboard
 * shortcuts.
 */
export function ResourcePage<Item extends { id: string }>({
  query,
  label,
  head,
  filter,
  create,
  icon,
  empty,
  commandsOf = () => [],
  children,
}: {
  query: PagesQuery<Item>;
  /** Name of the list. */
  label: string;
  /** Beside the button that creates one: a description of the resources, or a search field. */
  head?: ReactNode;
  /** Fields that filter the list, above it. */
  filter?: ReactNode;
  /** Creates a resource; undefined if the operator may not. `id` is the command's. */
  create?: { id: string; title: string; run: () => void } | undefined;
  icon: LucideIcon;
  /** Texts for an empty list. `isFiltered` omits the button that creates one. */
  empty: { title: string; text: string; isFiltered?: boolean; action?: ReactNode };
  /** Commands for the focused row. */
  commandsOf?: (item: Item) => readonly (GroupCommand | false)[];
  /** The content of a row. */
  children: (item: Item) => ReactNode;
}) {
  const items = itemsOf(query);
  useCommands("page", [create !== undefined && { ...create, keys: "c" }]);
  const button = create !== undefined && (
    <Button icon={Plus} variant="primary" onClick={create.run} keys="c">
      {create.title}
    </Button>
  );
  return (
    <>
      {(head !== undefined || button !== false) && <ResourceHead head={head}>{button}</ResourceHead>}
      {filter}
      <Pages
        query={query}
        skeleton="h-14 w-full rounded-lg"
        empty={
          <EmptyState icon={icon} title={empty.title} text={empty.text}>
            {empty.action ?? (empty.isFiltered !== true && button)}
          </EmptyState>
        }
      >
        <ResourceRows items={items} label={label} commandsOf={commandsOf}>
          {children}
        </ResourceRows>
      </Pages>
    </>
  );
}

/** Shows a secret once, with a copy button. */
export function ShownOnceDialog({
  title,
  warning,
  label,
  secret,
  onClose,
}: {
  title: string;
  warning: string;
  /** Name of the secret. */
  label: string;
  secret: string;
  onClose: () => void;
}) {
  const { t } = useTexts();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t("apiKeys.kept")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <Notice variant="warn">{warning}</Notice>
        <CopyBox label={label} text={secret} isWrapped />
      </div>
    </Dialog>
  );
}
