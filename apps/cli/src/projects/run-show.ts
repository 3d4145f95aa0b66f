import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findProject } from "./find-project.ts";
import { renderProject } from "./render-projects.ts";

/** `svc projects show`: one project. */
export async function runShow(cli: Cli, name: string): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) => findProject(store, await localPrincipal(store), name));
  cli.terminal.show({ ok: true, item }, () => renderProject(item));
}
