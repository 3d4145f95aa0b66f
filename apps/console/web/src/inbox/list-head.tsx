import { useQuery } from "@tanstack/react-query";
import { ListFilter, BookmarkPlus, X } from "lucide-react";
import { Popover } from "radix-ui";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { agentsQuery } from "../api/agents.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, usePeople, useProject } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { Field, SearchField, SelectField } from "../ui/field.tsx";
import { filterOptions, spanOnly, describeFilter, chosenFilters } from "./inbox-search.ts";
import type { FilterName, InboxSearch } from "./inbox-search.ts";
import { ProjectSpan } from "./view-sidebar.tsx";
import { VIEWS } from "./views.ts";

const CHOICES = ["sort", "priority", "channelId", "stage", "status", "agentId", "assignee"] as const;
const TYPED = ["tag", "userId", "language"] as const;

/** The filters that have choices, and a function that returns the options of one. */
function useFilterChoices(search: InboxSearch) {
  const texts = useTexts();
  const { t } = texts;
  const { connection } = useServices();
  const { people } = usePeople();
  const { data: agents = [] } = useQuery(agentsQuery(connection, useProject()));
  const options = {
    agentId: agents.map(({ id, name }) => ({ value: id, label: name })),
    assignee: [
      { value: "none", label: t("filter.nobody") },
      ...people.map(({ actor, name }) => ({ value: actor, label: name })),
    ],
  };
  // An agent belongs to its project.
  const choices = CHOICES.filter((name) => name !== "agentId" || search.projects !== "all");
  const optionsOf = (name: (typeof CHOICES)[number]) =>
    name === "agentId" || name === "assignee" ? options[name] : filterOptions(name, texts);
  return { choices, optionsOf };
}

/** The filters and the order of the list. */
function FilterPopover({ search, onChange }: { search: InboxSearch; onChange: (next: InboxSearch) => void }) {
  const { t } = useTexts();
  const set = (name: FilterName, value: string) => {
    const { [name]: _, ...rest } = search;
    onChange(value.trim() === "" ? rest : { ...rest, [name]: value.trim() });
  };
  const { choices, optionsOf } = useFilterChoices(search);

  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <IconButton icon={ListFilter} label={t("filter.open")} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t("filter.open")}
          className="animate-appear z-40 max-h-(--radix-popover-content-available-height) w-72 overflow-y-auto rounded-lg border border-line bg-raised p-3 shadow-pop"
        >
          <div className="flex flex-col gap-2.5">
            {choices.map((name) => (
              <SelectField
                key={name}
                label={t(`filter.${name}`)}
                value={search[name] ?? (name === "sort" ? "-updatedAt" : "")}
                options={[...(name === "sort" ? [] : [{ value: "", label: t("filter.any") }]), ...optionsOf(name)]}
                onChange={(value) => set(name, value === "-updatedAt" ? "" : value)}
              />
            ))}
            {TYPED.map((name) => (
              <Field
                key={`${name} ${search[name] ?? ""}`}
                label={t(`filter.${name}`)}
                defaultValue={search[name] ?? ""}
                onBlur={({ currentTarget }) => set(name, currentTarget.value)}
                onKeyDown={(event) => event.key === "Enter" && set(name, event.currentTarget.value)}
              />
            ))}
            <Button
              onClick={() => onChange({ ...spanOnly(search), ...(search.q === undefined ? {} : { q: search.q }) })}
            >
              {t("filter.clear")}
            </Button>
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

const SaveViewDialog = lazyDialog(async () => (await import("./save-view-dialog.tsx")).SaveViewDialog);

/** Delay after the last letter before the list is requested. */
const TYPING_MS = 200;

/** The words of the search field; the address follows them after a delay, and they follow the address. */
function useSearchWords(search: InboxSearch, change: (next: InboxSearch) => void) {
  const [words, setWords] = useState(search.q ?? "");
  const asked = search.q ?? "";
  const askedRef = useRef(asked);

  // The address overrides the field if it was changed elsewhere, as by going back.
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

/** The active filters, each with a button that removes it. */
function FilterChips({ search, onChange }: { search: InboxSearch; onChange: (next: InboxSearch) => void }) {
  const texts = useTexts();
  const { t } = texts;
  const { connection } = useServices();
  const { nameOf } = usePeople();
  const { data: agents } = useQuery(agentsQuery(connection, useProject()));
  const names = chosenFilters(search);
  if (names.length === 0) return null;
  return (
    <ul aria-label={t("filter.chosen")} className="mt-2 flex flex-wrap gap-1">
      {names.map((name) => {
        const text = describeFilter(name, search[name] ?? "", { texts, nameOf, agents });
        const { [name]: _, ...rest } = search;
        return (
          <li key={name}>
            <button
              type="button"
              aria-label={t("filter.remove", { filter: text })}
              onClick={() => onChange(rest)}
              className="flex h-6 max-w-60 items-center gap-1 rounded-full bg-accent-soft pr-1.5 pl-2.5 text-xs font-medium text-accent"
            >
              <span className="truncate">{text}</span>
              <X aria-hidden className="size-3.5 shrink-0" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Above the list: the view, the search, and the filters. */
export function ListHead({ viewId, search, isLoading }: { viewId: string; search: InboxSearch; isLoading: boolean }) {
  const { t } = useTexts();
  const project = useProject();
  const navigate = useNavigate();
  const ofAll = search.projects === "all";
  const inputRef = useRef<HTMLInputElement>(null);
  const [isSaving, setSaving] = useState(false);
  const change = (next: InboxSearch) => void navigate({ to: ".", search: () => next, replace: true });
  const { words, setWords } = useSearchWords(search, change);
  useCommands("list", [
    { id: "search", title: t("command.search"), keys: "/", run: () => inputRef.current?.focus() },
    { id: "save-view", title: t("inbox.saveView"), run: () => setSaving(true) },
  ]);

  return (
    <header className="relative shrink-0 border-b border-line px-3 pt-2.5 pb-2">
      <ProjectSpan search={search} className="mb-2 xl:hidden" />
      <SelectField
        label={t("inbox.view")}
        hidesLabel
        value={viewId}
        options={VIEWS.map(({ id }) => ({ value: id, label: t(`view.${id}`) }))}
        onChange={(value) =>
          void navigate({
            to: "/$project/inbox/$view",
            params: { project, view: value },
            search: spanOnly(search),
          })
        }
        className="mb-2 xl:hidden"
      />
      <div className="flex items-center gap-1.5">
        <SearchField
          ref={inputRef}
          label={t("inbox.search")}
          variant="sunken"
          value={ofAll ? "" : words}
          disabled={ofAll}
          placeholder={t(ofAll ? "inbox.searchOne" : "inbox.search")}
          onChange={setWords}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            if (words === "") event.currentTarget.blur();
            setWords("");
          }}
        />
        <FilterPopover search={search} onChange={change} />
        <IconButton
          icon={BookmarkPlus}
          label={t("inbox.saveView")}
          onClick={() => setSaving(true)}
          className="max-xl:hidden"
        />
      </div>
      <FilterChips search={search} onChange={change} />
      {isLoading && <span aria-hidden className="animate-shimmer absolute inset-x-0 -bottom-px h-0.5 bg-accent" />}
      {isSaving && <SaveViewDialog view={viewId} search={search} onClose={() => setSaving(false)} />}
    </header>
  );
}
