import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { agentsQuery } from "../api/administration.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useServices, useTags } from "../session/services.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field, formText } from "../ui/field.tsx";
import { PickList } from "../ui/choice-fields.tsx";
import type { PickItem } from "../ui/choice-fields.tsx";
import { filterOptions, filtersOf, useSavedViews } from "./views.ts";
import type { FilterName, InboxSearch } from "./views.ts";

/** The available filters, in order. */
const OFFERED = [
  "status",
  "priority",
  "channelId",
  "assignee",
  "agentId",
  "tag",
  "language",
  "createdFrom",
  "createdTo",
  "overdue",
  "stage",
  "userId",
] as const satisfies readonly FilterName[];
type Offered = (typeof OFFERED)[number];

/** Filters with free text. */
const TYPED: readonly Offered[] = ["tag", "language", "userId"];
const DATES: readonly Offered[] = ["createdFrom", "createdTo"];
/** Languages that are suggested before anything is typed; others are found by their codes. */
const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "uk", "ru", "ar", "zh", "ja"];

const rowOf = (id: string, text: string, words: string, hint?: string): PickItem => ({
  id,
  words,
  view: (
    <>
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {text}
      </span>
      {hint !== undefined && <span className="shrink-0 text-xs text-muted">{hint}</span>}
    </>
  ),
});

/** Returns a function that lists the known values of a filter. */
function useFilterValues(): (name: Offered) => readonly { value: string; label: string }[] {
  const texts = useTexts();
  const { t } = texts;
  const { connection } = useServices();
  const { people } = usePeople();
  const tags = useTags();
  const { data: agents = [] } = useQuery(agentsQuery(connection, useProject()));
  const own: Partial<Record<Offered, () => readonly { value: string; label: string }[]>> = {
    agentId: () => agents.map(({ id, name }) => ({ value: id, label: name })),
    assignee: () => [
      { value: "none", label: t("filter.nobody") },
      ...people.map(({ actor, name }) => ({ value: actor, label: name })),
    ],
    tag: () => tags.map(({ name }) => ({ value: name, label: name })),
    language: () => LANGUAGES.map((value) => ({ value, label: texts.languageName(value) })),
    overdue: () => [{ value: "1", label: t("filter.yes") }],
  };
  return (name) => own[name]?.() ?? filterOptions(name, texts);
}

/** Asks for a day. */
function DateFilter({
  name,
  onClose,
  onChoose,
}: {
  name: Offered;
  onClose: () => void;
  onChoose: (day: string) => void;
}) {
  const { t } = useTexts();
  return (
    <FormDialog
      title={t(`filter.${name}`)}
      width="small"
      action={t("filter.apply")}
      onSubmit={(form) => onChoose(formText(form, "day"))}
      onClose={onClose}
    >
      <Field label={t(`filter.${name}`)} name="day" type="date" required autoFocus />
    </FormDialog>
  );
}

/**
 * Adds a filter: first its name is chosen, then its value. Words also find values directly, such as "high" for a
 * priority. An existing filter gets the new value.
 */
export function FilterDialog({
  search,
  onClose,
  onChange,
}: {
  search: InboxSearch;
  onClose: () => void;
  onChange: (next: InboxSearch) => void;
}) {
  const { t } = useTexts();
  const valuesOf = useFilterValues();
  const [name, setName] = useState<Offered | null>(null);
  // An agent belongs to its project.
  const offered = OFFERED.filter((one) => one !== "agentId" || search.projects !== "all");
  const choose = (of: Offered, value: string) => {
    onClose();
    if (value !== "") onChange({ ...search, [of]: value });
  };
  if (name !== null && DATES.includes(name)) {
    return <DateFilter name={name} onClose={onClose} onChoose={(day) => choose(name, day)} />;
  }
  const valueRows = (of: Offered, isAlone: boolean) =>
    valuesOf(of).map(({ label, value }) =>
      rowOf(`${of}=${value}`, label, `${label} ${t(`filter.${of}`)}`, isAlone ? undefined : t(`filter.${of}`)),
    );
  const itemsFor = (words: string) => {
    if (name === null) {
      const names = offered.map((one) => rowOf(one, t(`filter.${one}`), t(`filter.${one}`)));
      return words === "" ? names : [...names, ...offered.flatMap((one) => valueRows(one, false))];
    }
    const isTyped = TYPED.includes(name) && words !== "" && !valuesOf(name).some(({ value }) => value === words);
    return [
      ...valueRows(name, true),
      ...(isTyped ? [rowOf(`${name}=${words}`, t("filter.typed", { value: words }), words)] : []),
    ];
  };
  const title = name === null ? t("filter.add") : t(`filter.${name}`);
  return (
    <Dialog key={name} title={title} width="small" onClose={onClose}>
      <PickList
        key={name}
        label={title}
        empty={t(name !== null && TYPED.includes(name) ? "filter.type" : "people.none")}
        items={itemsFor}
        onPick={(id) => {
          const [of, ...value] = id.split("=");
          const found = offered.find((one) => one === of);
          if (found === undefined) return;
          if (value.length === 0) setName(found);
          else choose(found, value.join("="));
        }}
      />
    </Dialog>
  );
}

/** Copied from the server, because the pages import no code of the contracts. */
const VIEW_NAME_MAX_CHARS = 60;

/** Saves the view with its filters under a name. */
export function SaveViewDialog({ view, search, onClose }: { view: string; search: InboxSearch; onClose: () => void }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const { save, find } = useSavedViews();
  const project = useProject();
  const [error, setError] = useState<string | undefined>(undefined);
  function submit(form: FormData) {
    const name = formText(form, "name").trim();
    if (name === "") return;
    const owner = search.projects === "all" ? null : project;
    const known = find(name);
    if (known !== undefined && known.project !== owner) {
      setError(t("inbox.viewTaken", { project: known.project ?? t("inbox.allProjects") }));
      return;
    }
    onClose();
    void save({ name, project: owner, view, filters: filtersOf(search) }).then((isSaved) => {
      if (isSaved) toasts.show({ kind: "done", text: t("inbox.viewSaved", { name }) });
    });
  }
  return (
    <FormDialog title={t("inbox.saveView")} width="small" action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <Field
        label={t("inbox.viewName")}
        hint={t("inbox.saveHint")}
        error={error}
        name="name"
        maxLength={VIEW_NAME_MAX_CHARS}
        required
        autoFocus
      />
    </FormDialog>
  );
}
