import { Command } from "cmdk";
import { Search } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";

/** An item of the list. */
export interface PickItem {
  id: string;
  /** Words that are searched. */
  words: string;
  view: ReactNode;
}

/** A list with a search field, which can be used with the keyboard alone. */
export function PickList({
  label,
  items,
  empty,
  onPick,
}: {
  label: string;
  /** The items, or a function that returns them for the typed words. */
  items: readonly PickItem[] | ((words: string) => readonly PickItem[]);
  /** Text without a matching item. */
  empty: string;
  onPick: (id: string) => void;
}) {
  const { t } = useTexts();
  const [words, setWords] = useState("");
  const offered = typeof items === "function" ? items(words.trim()) : items;
  return (
    <Command label={label} loop>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Command.Input
          autoFocus
          data-autofocus
          value={words}
          onValueChange={setWords}
          placeholder={t("ui.find")}
          className="h-11 w-full bg-transparent text-base outline-none"
        />
      </div>
      <Command.List className="h-[min(20rem,50vh)] overflow-y-auto p-1.5">
        <Command.Empty className="px-3 py-8 text-center text-sm text-muted">{empty}</Command.Empty>
        {offered.map(({ id, view, words: names }) => (
          <Command.Item
            key={id}
            value={`${names} ${id}`}
            onSelect={() => onPick(id)}
            className="flex min-h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 text-sm data-[selected=true]:bg-hover"
          >
            {view}
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}
