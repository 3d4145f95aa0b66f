import { useQuery } from "@tanstack/react-query";
import { ArrowDownUp, BookmarkPlus, Plus, X } from "lucide-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Ref } from "react";
import { agentsQuery } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, usePeople, useProject } from "../session/services.ts";
import { IconButton } from "../ui/button.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { Menu, MenuChoice } from "../ui/menu.tsx";
import { SearchField, SelectField } from "../ui/field.tsx";
import { chosenFilters, describeFilter, filterOptions, VIEWS, withoutFilters } from "./views.ts";
import type { InboxSearch } from "./views.ts";
import { ProjectSpan } from "./view-sidebar.tsx";

const SORT_DEFAULT = "-updatedAt";

/** The order of the list. */
function SortMenu({ search, onChange }: { search: InboxSearch; onChange: (next: InboxSearch) => void }) {
  const texts = useTexts();
  const { t } = texts;
  const { preferences } = useServices();
  const { sort = SORT_DEFAULT, ...rest } = search;
  const choose = (value: string) => {
    const inboxSort = value === SORT_DEFAULT ? null : value;
    preferences.set((known) => ({ ...known, inboxSort }));
    onChange(inboxSort === null ? rest : { ...rest, sort: inboxSort });
  };
  return (
    <Menu trigger={<IconButton icon={ArrowDownUp} label={t("filter.sort")} />}>
      <MenuChoice label={t("filter.sort")} value={sort} options={filterOptions("sort", texts)} onChange={choose} />
    </Menu>
  );
}

const FilterDialog = lazyDialog(async () => (await import("./list-dialogs.tsx")).FilterDialog);
const SaveViewDialog = lazyDialog(async () => (await import("./list-dialogs.tsx")).SaveViewDialog);

/** Delay after the last key press before the list is requested, in milliseconds. */
const TYPING_MS = 200;

/** The text of the search field, synchronized with the URL after a delay. */
function useSearchWords(search: InboxSearch, change: (next: InboxSearch) => void) {
  const [words, setWords] = useState(search.q ?? "");
  const asked = search.q ?? "";
  const askedRef = useRef(asked);

  // The URL overrides the field if it was changed elsewhere, for example by navigating back.
  useEffect(() => {
    if (askedRef.current !== asked) setWords(asked);
    askedRef.current = asked;
  }, [asked]);
  useEffect(() => {
    if (words.trim() === askedRef.current) return undefined;
    const timer = setTimeout(() => {
      const { q: _, ...rest } = search;
      askedRef.current = words.trim();
      change(words.trim() === "" ? rest : { ...rest, q: words.trim() });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  });
  return { words, setWords };
}

const CHIP = "flex h-6 max-w-60 items-center gap-1 rounded-full text-xs font-medium";

/** An active filter: a button that removes it. */
function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  const { t } = useTexts();
  return (
    <li className="min-w-0">
      <button
        type="button"
        aria-label={t("filter.remove", { filter: text })}
        onClick={onRemove}
        className={`${CHIP} bg-accent-soft pr-1.5 pl-2.5 text-accent`}
      >
        <span className="truncate">{text}</span>
        <X aria-hidden className="size-3.5 shrink-0" />
      </button>
    </li>
  );
}

/** The active filters, each with a button that removes it, and the button that adds one. */
function FilterChips({
  search,
  onChange,
  onAdd,
}: {
  search: InboxSearch;
  onChange: (next: InboxSearch) => void;
  onAdd: () => void;
}) {
  const texts = useTexts();
  const { t } = texts;
  const { connection } = useServices();
  const { nameOf } = usePeople();
  const { data: agents } = useQuery(agentsQuery(connection, useProject()));
  const names = chosenFilters(search);
  const add = useRef<HTMLButtonElement>(null);
  // The button of the removed filter had the focus.
  const remove = (next: InboxSearch) => {
    onChange(next);
    add.current?.focus();
  };
  const words = search.q === undefined ? {} : { q: search.q };
  return (
    <div className="mt-2 flex flex-wrap items-center gap-1">
      <ul aria-label={t("filter.chosen")} className="contents empty:hidden">
        {names.map((name) => {
          const { [name]: value = "", ...rest } = search;
          const text = describeFilter(name, value, { texts, nameOf, agents });
          return <FilterChip key={name} text={text} onRemove={() => remove(rest)} />;
        })}
      </ul>
      <button
        ref={add}
        type="button"
        aria-haspopup="dialog"
        onClick={onAdd}
        className={`${CHIP} border border-dashed border-edge pr-2.5 pl-1.5 text-muted hover:bg-hover hover:text-ink`}
      >
        <Plus aria-hidden className="size-3.5 shrink-0" />
        {t("filter.add")}
      </button>
      {names.length > 1 && (
        <button
          type="button"
          onClick={() => remove({ ...withoutFilters(search), ...words })}
          className={`${CHIP} px-1.5 text-muted hover:text-ink`}
        >
          {t("filter.clear")}
        </button>
      )}
    </div>
  );
}

/** The server accepts as many, of which an emoji is one. */
const SEARCH_MAX_CHARS = 200;

/** The search field. The search covers one project. */
function TicketSearch({
  ref,
  search,
  onChange,
}: {
  ref: Ref<HTMLInputElement>;
  search: InboxSearch;
  onChange: (next: InboxSearch) => void;
}) {
  const { t } = useTexts();
  const ofAll = search.projects === "all";
  const { words, setWords } = useSearchWords(search, onChange);
  return (
    <SearchField
      ref={ref}
      label={t("inbox.search")}
      variant="sunken"
      value={ofAll ? "" : words}
      disabled={ofAll}
      placeholder={t(ofAll ? "inbox.searchOne" : "inbox.search")}
      maxLength={SEARCH_MAX_CHARS}
      onChange={setWords}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        if (words === "") event.currentTarget.blur();
        setWords("");
      }}
    />
  );
}

/** Shown without the sidebar of views: in narrow windows, and if the details of a ticket need its space. */
const WITHOUT_SIDEBAR = "xl:hidden max-wide:group-has-[aside[data-open]]/inbox:block";

/** Above the list: the view, the search, and the filters. */
export function ListHead({ viewId, search, isLoading }: { viewId: string; search: InboxSearch; isLoading: boolean }) {
  const { t } = useTexts();
  const project = useProject();
  const navigate = useNavigate();
  const inputRef = useRef<HTMLInputElement>(null);
  const [isSaving, setSaving] = useState(false);
  const [isFiltering, setFiltering] = useState(false);
  const change = (next: InboxSearch) => void navigate({ to: ".", search: () => next, replace: true });
  useCommands("list", [
    { id: "search", title: t("command.search"), keys: "/", run: () => inputRef.current?.focus() },
    { id: "filter", title: t("filter.add"), keys: "f", run: () => setFiltering(true) },
    { id: "save-view", title: t("inbox.saveView"), run: () => setSaving(true) },
  ]);

  return (
    <header className="relative shrink-0 border-b border-line px-3 pt-2.5 pb-2">
      <ProjectSpan search={search} className={`mb-2 ${WITHOUT_SIDEBAR}`} />
      <SelectField
        label={t("inbox.view")}
        hidesLabel
        value={viewId}
        options={VIEWS.map(({ id }) => ({ value: id, label: t(`view.${id}`) }))}
        onChange={(value) =>
          void navigate({
            to: "/$project/inbox/$view",
            params: { project, view: value },
            search: withoutFilters(search),
          })
        }
        className={`mb-2 ${WITHOUT_SIDEBAR}`}
      />
      <div className="flex items-center gap-1.5">
        <TicketSearch ref={inputRef} search={search} onChange={change} />
        <SortMenu search={search} onChange={change} />
        <IconButton
          icon={BookmarkPlus}
          label={t("inbox.saveView")}
          onClick={() => setSaving(true)}
          className="max-xl:hidden"
        />
      </div>
      <FilterChips search={search} onChange={change} onAdd={() => setFiltering(true)} />
      {isLoading && <span aria-hidden className="animate-shimmer absolute inset-x-0 -bottom-px h-0.5 bg-accent" />}
      {isFiltering && <FilterDialog search={search} onChange={change} onClose={() => setFiltering(false)} />}
      {isSaving && <SaveViewDialog view={viewId} search={search} onClose={() => setSaving(false)} />}
    </header>
  );
}
