import type { ProjectChange } from "@svc/contracts";
import { updateProject } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findProject } from "./find-project.ts";
import { settingsOf } from "./project-options.ts";
import type { ProjectOptions } from "./project-options.ts";
import { renderProject } from "./render-projects.ts";

async function change(cli: Cli, name: string, changes: ProjectChange): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store);
    const project = await findProject(store, principal, name);
    return updateProject({ store }, principal, project.id, changes, [project.version]);
  });
  cli.terminal.show({ ok: true, item }, () => renderProject(item));
}

/** `svc projects change`: changes what the options name of a project, and nothing else. */
export async function runChange(cli: Cli, name: string, options: ProjectOptions): Promise<void> {
  const changes = await settingsOf(cli, options);
  if (Object.keys(changes).length === 0) {
    throw new CliError("usage", EXIT.usage, "Say what to change, for example --retention. See: projects change --help");
  }
  await change(cli, name, changes);
}

/** `svc projects rename`: gives a project another name. */
export function runRename(cli: Cli, name: string, newName: string): Promise<void> {
  return change(cli, name, { name: newName });
}
