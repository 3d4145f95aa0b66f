import { createProject } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { settingsOf } from "./project-options.ts";
import type { ProjectOptions } from "./project-options.ts";
import { renderProject } from "./render-projects.ts";

/** `svc projects create`: makes a project. */
export async function runCreate(cli: Cli, name: string, options: ProjectOptions): Promise<void> {
  const settings = await settingsOf(cli, options);
  const item = await withResources(cli, {}, async ({ store }) =>
    createProject({ store }, await localPrincipal(store), { ...settings, name }),
  );
  cli.terminal.show({ ok: true, item }, () => renderProject(item));
  cli.terminal.note(
    `It has no agent yet. Create one with: ${cli.self} agents create NAME --kb KNOWLEDGE-BASE --project ${item.name}`,
  );
}
