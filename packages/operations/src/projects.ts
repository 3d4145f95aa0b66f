import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, projectInputSchema } from "@svc/contracts";
import type { ListInput, ListPage, ProjectInput, ProjectItem } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { checkInput, invalidInput } from "./check-input.ts";
import { isUuid } from "./is-uuid.ts";
import { readPage } from "./list-page.ts";

function asItem({ createdAt, ...project }: Project): ProjectItem {
  const { id, name, handoffText, tablesAsXlsx, retentionDays, version } = project;
  return { id, name, handoffText, tablesAsXlsx, retentionDays, createdAt: createdAt.toISOString(), version };
}

/** A page of all projects, newest first. Scope admin:*. Throws invalid_request for a query that is not valid. */
export async function listProjects(
  { store }: { store: Store },
  principal: Principal,
  input: ListInput,
): Promise<ListPage<ProjectItem>> {
  requireScope(principal, "admin:*");
  return readPage("projects", input, (query) => store.projects.listPage(query), asItem);
}

/** The project with this id. Scope admin:*. Throws not_found. */
export async function getProject({ store }: { store: Store }, principal: Principal, id: string): Promise<ProjectItem> {
  requireScope(principal, "admin:*");
  const project = isUuid(id) ? await store.projects.find(asProjectId(id)) : null;
  if (project === null) throw new ServiceError("not_found", "There is no project with this id.");
  return asItem(project);
}

/**
 * Makes a project, without agents and knowledge bases. Scope admin:*. Throws invalid_request with every fault of the
 * input, and when there is a project of this name.
 */
export async function createProject(
  { store }: { store: Store },
  principal: Principal,
  input: ProjectInput,
): Promise<ProjectItem> {
  requireScope(principal, "admin:*");
  const project = await store.projects.insert(checkInput(projectInputSchema, input, "The project"));
  if (project === null) {
    const fault = { pointer: "/name", code: "taken", detail: "there is a project of this name" };
    throw invalidInput([fault], "The project");
  }
  return asItem(project);
}
