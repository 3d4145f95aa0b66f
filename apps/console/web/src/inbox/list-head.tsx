import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookmarkPlus, Search, X } from "lucide-react";
import { Suspense, lazy, useEffect, useRef, useState } from "react";
import { useCommands } from "../app/command-registry.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { SelectField } from "../ui/field.tsx";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import { agentsQuery } from "../api/agents.ts";
import { describeFilter } from "./describe-filter.ts";
import { FilterPopover } from "./filter-popover.tsx";
import { ProjectSpan } from "./project-span.tsx";
import { chosenFilters, spanOnly } from "./inbox-search.ts";
import type { InboxSearch } from "./inbox-search.ts";
import { VIEWS } from "./views.ts";

const SaveViewDialog = lazy(() => import("./save-view-dialog.tsx"));

/** While somebody types, the list is not asked for every letter. */
const TYPING_MS = 200;

/** What stands over the list: the view, the search, and the filters. */
export function ListHead({ viewId, search, isLoading }: { viewId: string; search: InboxSearch; isLoading: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const { connection } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const { nameOf } = usePeople();
  const { data: agents } = useQuery(agentsQuery(connection, project));
  const ofAll = search.projects === "all";
  const inputRef = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState(search.q ?? "");
  const [isSaving, setSaving] = useState(false);
  const asked = search.q ?? "";
  const askedRef = useRef(asked);

  const change = (next: InboxSearch) => void navigate({ to: ".", search: () => next, replace: true });

  // The address leads where it was changed by somebody else, as by going back.
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
  useCommands([
    { id: "search", title: t("command.search"), group: "list", keys: "/", run: () => inputRef.current?.focus() },
    { id: "save-view", title: t("inbox.saveView"), group: "list", run: () => setSaving(true) },
  ]);

  const chips = chosenFilters(search).map((name) => ({
    name,
    text: describeFilter(name, search[name] ?? "", { texts, nameOf, agents }),
  }));
  return (
    <header className="relative shrink-0 border-b border-line px-3 pt-2.5 pb-2">
      <ProjectSpan search={search} className="mb-2 xl:hidden" />
      <SelectField
        label={t("inbox.view")}
        hidesLabel
        value={viewId}
        options={VIEWS.map(({ id, title }) => ({ value: id, label: t(title) }))}
        onChange={({ currentTarget }) =>
          void navigate({
            to: "/$project/inbox/$view",
            params: { project, view: currentTarget.value },
            search: spanOnly(search),
          })
        }
        className="mb-2 xl:hidden"
      />
      <div className="flex items-center gap-1.5">
        <label className="relative min-w-0 flex-1">
          <span className="sr-only">{t("inbox.search")}</span>
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <input
            ref={inputRef}
            type="search"
            value={ofAll ? "" : words}
            disabled={ofAll}
            placeholder={t(ofAll ? "inbox.searchOne" : "inbox.search")}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              if (words === "") event.currentTarget.blur();
              setWords("");
            }}
            className="h-8 w-full rounded-md border border-transparent bg-sunken pr-2 pl-8 text-base focus:border-accent focus:bg-surface md:text-sm [&::-webkit-search-cancel-button]:hidden"
          />
        </label>
        <FilterPopover search={search} onChange={change} />
        <IconButton
          icon={BookmarkPlus}
          label={t("inbox.saveView")}
          onClick={() => setSaving(true)}
          className="max-xl:hidden"
        />
      </div>
      {chips.length > 0 && (
        <ul aria-label={t("filter.chosen")} className="mt-2 flex flex-wrap gap-1">
          {chips.map(({ name, text }) => (
            <li key={name}>
              <button
                type="button"
                aria-label={t("filter.remove", { filter: text })}
                onClick={() => {
                  const { [name]: _, ...rest } = search;
                  change(rest);
                }}
                className="flex h-6 max-w-60 items-center gap-1 rounded-full bg-accent-soft pr-1.5 pl-2.5 text-xs font-medium text-accent"
              >
                <span className="truncate">{text}</span>
                <X aria-hidden className="size-3.5 shrink-0" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isLoading && <span aria-hidden className="animate-shimmer absolute inset-x-0 -bottom-px h-0.5 bg-accent" />}
      <Suspense fallback={<PendingDialog />}>
        {isSaving && <SaveViewDialog view={viewId} search={search} onClose={() => setSaving(false)} />}
      </Suspense>
    </header>
  );
}
