import type { ProjectChange, ProjectItem } from "@svc/contracts";
import { updateProject } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findProject } from "./find-project.ts";
import { mergeHandoffTexts, settingsOf } from "./project-options.ts";
import type { ProjectOptions } from "./project-options.ts";
import { renderProject } from "./render-projects.ts";

async function change(cli: Cli, name: string, changesOf: (project: ProjectItem) => ProjectChange): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store);
    const project = await findProject(store, principal, name);
    return updateProject({ store }, principal, project.id, changesOf(project), [project.version]);
  });
  cli.terminal.show({ ok: true, item }, () => renderProject(item));
}

/** `svc projects change`: changes what the options name of a project, and nothing else. */
export async function runChange(cli: Cli, name: string, options: ProjectOptions): Promise<void> {
  const { handoffIn, ...others } = options;
  const changes = await settingsOf(cli, others);
  if (Object.keys(changes).length === 0 && handoffIn === undefined) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify what to update, for example --retention. See: svc projects update --help",
    );
  }
  await change(cli, name, ({ handoffTexts }) =>
    handoffIn === undefined ? changes : { ...changes, handoffTexts: mergeHandoffTexts(handoffTexts, handoffIn) },
  );
}

/** `svc projects rename`: gives a project another name. */
export function runRename(cli: Cli, name: string, newName: string): Promise<void> {
  return change(cli, name, () => ({ name: newName }));
}
