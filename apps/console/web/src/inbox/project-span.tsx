import { useNavigate } from "@tanstack/react-router";
import { useCommands } from "../app/command-registry.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { SelectField } from "../ui/field.tsx";
import type { InboxSearch } from "./inbox-search.ts";

const ALL = "*";

/** Whose tickets are shown: those of one project, or of all. For those who have a role in more than one. */
export function ProjectSpan({ search, className }: { search: InboxSearch; className: string }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const project = useProject();
  const navigate = useNavigate();
  const ofAll = search.projects === "all";
  const { projects: _, ...ofOne } = search;
  const choose = (name: string) =>
    void navigate({
      from: "/$project/inbox/$view",
      to: "/$project/inbox/$view",
      params: (place) => ({ ...place, project: name === ALL ? project : name }),
      search: name === ALL ? { ...ofOne, projects: "all" } : ofOne,
    });
  const isOffered = projects.length > 1;
  useCommands(
    isOffered
      ? [
          {
            id: "all-projects",
            title: t(ofAll ? "inbox.oneProject" : "inbox.allProjects"),
            group: "list",
            run: () => choose(ofAll ? project : ALL),
          },
        ]
      : [],
  );
  if (!isOffered) return null;
  return (
    <SelectField
      label={t("inbox.projects")}
      hidesLabel
      value={ofAll ? ALL : project}
      options={[
        { value: ALL, label: t("inbox.allProjects") },
        ...projects.map(({ name }) => ({ value: name, label: name })),
      ]}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
      className={className}
    />
  );
}
