import { localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Store } from "@svc/store";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { safeLine } from "./safe-text.ts";

/**
 * The person at this machine, working on a project, or on what belongs to the installation as a whole. Throws CliError
 * `not_found`, which names the projects there are.
 */
export async function localPrincipal(store: Store, projectName: string = DEFAULT_PROJECT): Promise<Principal> {
  const project = await store.projects.findByName(projectName);
  if (project !== null) return localAdministrator(project);
  const projects = await store.projects.list();
  const advice =
    projects.length === 0
      ? "There are no projects yet. Run init to create the first one."
      : `Projects: ${projects.map(({ name }) => name).join(", ")}.`;
  throw new CliError("not_found", EXIT.failed, `No project is named "${safeLine(projectName, 80)}". ${advice}`);
}
