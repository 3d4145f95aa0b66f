import type { Principal } from "@svc/auth";
import type { ProjectItem } from "@svc/contracts";
import { listProjects } from "@svc/operations";
import type { Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readAll } from "../kb/find-kb.ts";
import { safeLine } from "../safe-text.ts";

/** All projects, by name. */
export async function listAllProjects(store: Store, principal: Principal): Promise<ProjectItem[]> {
  const items = await readAll((page) => listProjects({ store }, principal, page));
  return items.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The project of this name or id. Throws CliError `not_found`, which names those that there are. */
export async function findProject(store: Store, principal: Principal, name: string): Promise<ProjectItem> {
  const projects = await listAllProjects(store, principal);
  const found =
    projects.find((project) => project.name === name) ?? projects.find(({ id }) => id === name.toLowerCase());
  if (found !== undefined) return found;
  const known = projects.map((project) => project.name).join(", ");
  throw new CliError("not_found", EXIT.failed, `No project is named "${safeLine(name, 80)}". Projects: ${known}.`);
}
