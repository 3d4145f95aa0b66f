import type { ProjectChange, ProjectDeletion, ProjectInput, projectEndpoints } from "@svc/contracts";
import { createProject, deleteProject, getProject, listProjects, updateProject } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Projects (service document, section 4.4). */
export const projectHandlers: AdminHandlers<typeof projectEndpoints> = {
  listProjects: async (context, { principal, listQuery }) => ({
    list: await listProjects(context, principal, listQuery()),
  }),
  async createProject(context, { principal, body }) {
    const item = await createProject(context, principal, (await body()) as ProjectInput);
    return { item, location: `/api/v1/projects/${item.id}`, version: item.version };
  },
  async getProject(context, { principal, param }) {
    const item = await getProject(context, principal, param());
    return { item, version: item.version };
  },
  async updateProject(context, { principal, param, body, ifMatch }) {
    const item = await updateProject(context, principal, param(), (await body()) as ProjectChange, ifMatch());
    return { item, version: item.version };
  },
  deleteProject: async (context, { principal, param, body, ifMatch }) => ({
    item: await deleteProject(context, principal, param(), (await body()) as ProjectDeletion, ifMatch()),
  }),
};
