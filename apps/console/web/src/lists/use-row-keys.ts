import { useEffect, useRef, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useCommands } from "../session/services.ts";
import type { Command } from "../session/command-registry.ts";

/**
 * Lets j and k go through the rows of a list: the row that is come to has the focus, by its element with
 * `data-row="<id>"`. `commandsOf` are what can be done with the row that has it.
 */
export function useRowKeys<Item extends { id: string }>(
  items: readonly Item[],
  commandsOf: (item: Item) => readonly Command[],
) {
  const { t } = useTexts();
  const listRef = useRef<HTMLUListElement>(null);
  const [currentId, setCurrentId] = useState<string | null>(null);
  const place = items.findIndex(({ id }) => id === currentId);
  const current = items[place];

  const focus = (id: string) =>
    listRef.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus({ preventScroll: false });
  const goTo = (item: Item | undefined) => {
    if (item === undefined) return;
    setCurrentId(item.id);
    focus(item.id);
  };
  // Where the row is gone that was worked on, the one that has taken its place comes next.
  const last = useRef(0);
  useEffect(() => {
    if (place >= 0) {
      last.current = place;
      return;
    }
    const next = currentId === null ? undefined : items[Math.min(last.current, items.length - 1)];
    if (next !== undefined) setCurrentId(next.id);
  }, [place, currentId, items]);

  useCommands([
    {
      id: "row-next",
      title: t("rows.next"),
      group: "list",
      keys: "j",
      run: () => goTo(items[place + 1] ?? items[place]),
    },
    {
      id: "row-before",
      title: t("rows.before"),
      group: "list",
      keys: "k",
      run: () => goTo(items[Math.max(0, place - 1)]),
    },
    ...(current === undefined ? [] : commandsOf(current)),
  ]);
  return { listRef, currentId, setCurrentId };
}
