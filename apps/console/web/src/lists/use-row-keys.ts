import { useEffect, useRef, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useCommands } from "../session/services.ts";
import type { GroupCommand } from "../session/command-registry.ts";

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
