import type { ProjectItem } from "@svc/contracts";
import { deleteProject } from "@svc/operations";
import { asProjectId } from "@svc/store";
import type { Store } from "@svc/store";
import { askLine } from "../ask-line.ts";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findProject } from "./find-project.ts";

/** What `projects delete` is told. */
export interface DeleteOptions {
  /** Name of the project, once more. */
  confirm?: string;
}

/** Asks for the name, after it was said what goes with it. */
async function askName(cli: Cli, store: Store, { id, name }: ProjectItem): Promise<string> {
  const held = Object.entries(await store.projects.countHeld(asProjectId(id))).filter(([, count]) => count > 0);
  const what =
    held.length === 0 ? "It is empty." : `It contains ${held.map(([kind, count]) => `${count} ${kind}`).join(", ")}.`;
  return askLine(cli, {
    question: `This permanently deletes the project ${name} and everything in it. ${what}`,
    request: "Type its name and press Enter",
    instead: `Cannot ask for confirmation, because the input is not a terminal. Add --confirm ${name}.`,
  });
}

/** `svc projects delete`: deletes a project with all that it holds, after its name was typed once more. */
export async function runDelete(cli: Cli, name: string, options: DeleteOptions): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store);
    const project = await findProject(store, principal, name);
    const confirm = options.confirm ?? (await askName(cli, store, project)).trim();
    // Whoever is asked and types anything else has changed his mind; a wrong option is a mistake that is explained.
    if (options.confirm === undefined && confirm !== project.name) return null;
    return deleteProject({ store }, principal, project.id, { confirm }, [project.version]);
  });
  cli.terminal.show({ ok: item !== null, item }, () =>
    item === null ? "Nothing was deleted." : `Deleted the project ${item.name} and everything in it.`,
  );
}
