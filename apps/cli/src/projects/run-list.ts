import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { listAllProjects } from "./find-project.ts";
import { renderProjects } from "./render-projects.ts";

/** `svc projects list`: all projects of the installation. */
export async function runList(cli: Cli): Promise<void> {
  const items = await withResources(cli, {}, async ({ store }) => listAllProjects(store, await localPrincipal(store)));
  cli.terminal.show({ ok: true, items }, () => renderProjects(items, cli.terminal));
}
