import type { NewAgent, Project, Store } from "@svc/store";

/** Creates a project with one agent, and with a handoff text if given. */
export async function addProject(
  store: Store,
  name: string,
  agent: Omit<NewAgent, "name">,
  settings: { handoffText?: string } = {},
): Promise<Project> {
  const { project } = await store.projects.ensure(name);
  if (settings.handoffText !== undefined) {
    await store.projects.update(project.id, { handoffText: settings.handoffText });
  }
  await store.agents.insert(project.id, { name: `${name}-agent`, reviewPolicy: "auto", ...agent });
  return project;
}
