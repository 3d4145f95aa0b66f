import { projectChangeSchema, projectDeletionSchema, projectInputSchema, projectItemSchema } from "../project.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Projects";
const PATH = "/api/v1/projects";

/** Projects (service document, section 4.4). */
export const projectEndpoints = {
  listProjects: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List projects, newest first",
    scope: "admin:*",
    query: listQuerySchema,
    answers: [listAnswer(projectItemSchema)],
  },
  createProject: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create a project",
    scope: "admin:*",
    body: { schema: projectInputSchema },
    answers: [createdAnswer(projectItemSchema)],
    example: { body: { name: "north", handoffText: "A colleague of ours will answer you." } },
  },
  getProject: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a project",
    scope: "admin:*",
    answers: [itemAnswer(projectItemSchema)],
  },
  updateProject: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update a project",
    description:
      "Omitted fields stay unchanged. `retentionDays: null` disables the retention limit. A new name takes effect within a second, including in the widget's settings. `default` cannot be renamed.",
    scope: "admin:*",
    body: { schema: projectChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(projectItemSchema)],
    example: { body: { handoffText: "A colleague of ours will answer you.", retentionDays: 365 } },
  },
  deleteProject: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete a project and everything in it",
    description:
      "`confirm` must be the project's name; otherwise the response is 400 and describes what would be deleted. The project and its content are inaccessible immediately, and its keys stop working; storage is freed in the background. `default` and the widget's project cannot be deleted.",
    scope: "admin:*",
    body: { schema: projectDeletionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(projectItemSchema, { when: "The project before its deletion." })],
    example: { body: { confirm: "north" } },
  },
} as const satisfies Record<string, Endpoint>;
