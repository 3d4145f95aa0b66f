import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Page } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { Command } from "../session/command-registry.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { useRowKeys } from "./use-row-keys.ts";

/** A secret that is shown this once, to be copied. */
export function ShownOnceDialog({
  title,
  warning,
  label,
  secret,
  onClose,
}: {
  title: string;
  warning: string;
  /** What the secret is. */
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
        <Button look="primary" onClick={onClose}>
          {t("apiKeys.kept")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <Notice look="warn">{warning}</Notice>
        <CopyBox label={label} text={secret} isWrapped />
      </div>
    </Dialog>
  );
}

const ROWS = [0, 1, 2, 3] as const;
const NO_COMMANDS = () => [];

/** A list that comes page by page: its outline while it loads, what is said where it is empty, and a way to more. */
export function PagedList<Item extends { id: string }>({
  query,
  label,
  empty,
  commandsOf = NO_COMMANDS,
  children,
}: {
  query: UseInfiniteQueryResult<InfiniteData<Page<Item>>>;
  label: string;
  empty: ReactNode;
  /** What the keyboard does with the row that has the focus. */
  commandsOf?: (item: Item) => readonly Command[];
  /** The inside of a row. */
  children: (item: Item) => ReactNode;
}) {
  const { t } = useTexts();
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const { listRef, setCurrentId } = useRowKeys(items, commandsOf);
  return (
    <div className="flex flex-col gap-4">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && (
        <div aria-busy className="flex flex-col gap-2">
          {ROWS.map((row) => (
            <Skeleton key={row} className="h-14 w-full rounded-lg" />
          ))}
        </div>
      )}
      {query.isSuccess && items.length === 0 && empty}
      {items.length > 0 && (
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
      )}
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()} className="self-center">
          {t("ui.more")}
        </Button>
      )}
    </div>
  );
}
