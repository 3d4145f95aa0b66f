import { useNavigate } from "@tanstack/react-router";
import { useTexts } from "../i18n/use-texts.ts";
import { Avatar } from "../ui/avatar.tsx";
import { Menu, MenuChoice } from "../ui/menu.tsx";
import { useCommands } from "./command-registry.ts";

/** Which project is worked on, and the others. */
export function ProjectMenu({ projects, project }: { projects: readonly string[]; project: string }) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const goTo = (name: string) =>
    void navigate({ to: "/$project/inbox/$view", params: { project: name, view: "review" } });
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
      <MenuChoice
        label={t("project.label")}
        value={project}
        onChange={goTo}
        options={projects.map((name) => ({ value: name, label: name }))}
      />
    </Menu>
  );
}
