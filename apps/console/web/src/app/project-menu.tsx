import { useNavigate } from "@tanstack/react-router";
import { useTexts } from "../i18n/use-texts.ts";
import { Avatar } from "../ui/avatar.tsx";
import { Menu, MenuChoice } from "../ui/menu.tsx";
import { useCommands } from "./command-registry.ts";

interface Projects {
  projects: readonly string[];
  project: string;
}

/** Goes to the inbox of a project. */
function useGoToProject(): (name: string) => void {
  const navigate = useNavigate();
  return (name) => void navigate({ to: "/$project/inbox/$view", params: { project: name, view: "review" } });
}

/** Offers the other projects as commands. */
export function useProjectCommands({ projects, project }: Projects): void {
  const { t } = useTexts();
  const goTo = useGoToProject();
  useCommands(
    projects
      .filter((name) => name !== project)
      .map((name) => ({
        id: `project-${name}`,
        title: t("command.project", { project: name }),
        group: "go",
        run: () => goTo(name),
      })),
  );
}

/** Which project is worked on, and the others, within a menu. */
export function ProjectChoice({ projects, project }: Projects) {
  const { t } = useTexts();
  return (
    <MenuChoice
      label={t("project.label")}
      value={project}
      onChange={useGoToProject()}
      options={projects.map((name) => ({ value: name, label: name }))}
    />
  );
}

/** Which project is worked on, and the others. */
export function ProjectMenu({ projects, project }: Projects) {
  const { t } = useTexts();
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={t("project.choose", { project })}
          title={t("project.choose", { project })}
          className="flex items-center justify-center rounded-lg p-1 hover:bg-hover"
        >
          <Avatar name={project} size="large" />
        </button>
      }
    >
      <ProjectChoice projects={projects} project={project} />
    </Menu>
  );
}
