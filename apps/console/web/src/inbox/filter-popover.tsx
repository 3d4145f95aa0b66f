import { useQuery } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { Popover } from "radix-ui";
import { agentsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { FILTER_TITLES, filterOptions } from "./describe-filter.ts";
import { spanOnly } from "./inbox-search.ts";
import type { FilterName, InboxSearch } from "./inbox-search.ts";

const CHOICES = ["sort", "priority", "channelId", "stage", "status", "agentId", "assignee"] as const;
const TYPED = ["tag", "userId", "language"] as const;

/** What narrows the list down, and in what order it is. */
export function FilterPopover({ search, onChange }: { search: InboxSearch; onChange: (next: InboxSearch) => void }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { people } = usePeople();
  const { data: agents = [] } = useQuery(agentsQuery(connection, project));
  const set = (name: FilterName, value: string) => {
    const { [name]: _, ...rest } = search;
    onChange(value.trim() === "" ? rest : { ...rest, [name]: value.trim() });
  };
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
    name === "agentId" || name === "assignee" ? options[name] : filterOptions(name, t);

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
                label={t(FILTER_TITLES[name])}
                value={search[name] ?? (name === "sort" ? "-updatedAt" : "")}
                options={[...(name === "sort" ? [] : [{ value: "", label: t("filter.any") }]), ...optionsOf(name)]}
                onChange={({ currentTarget }) =>
                  set(name, currentTarget.value === "-updatedAt" ? "" : currentTarget.value)
                }
              />
            ))}
            {TYPED.map((name) => (
              <Field
                key={`${name} ${search[name] ?? ""}`}
                label={t(FILTER_TITLES[name])}
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
