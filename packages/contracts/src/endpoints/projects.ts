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
    summary: "Make a project",
    scope: "admin:*",
    body: { schema: projectInputSchema },
    answers: [createdAnswer(projectItemSchema)],
    example: { body: { name: "north", handoffText: "A colleague of ours will answer you." } },
  },
  getProject: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a project",
    scope: "admin:*",
    answers: [itemAnswer(projectItemSchema)],
  },
  updateProject: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Rename or change a project",
    description:
      "What is left out stays as it is; `retentionDays: null` keeps everything for ever. The new name counts within a second, also in the settings of the widget. `default` keeps its name.",
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
    summary: "Delete a project with all that it holds",
    description:
      "`confirm` must be its name; without it the answer is 400 and says what would be deleted. Nobody finds the project or anything in it from then on, and its keys stop working; the space is freed in the background. `default`, and the project of the widget, cannot be deleted.",
    scope: "admin:*",
    body: { schema: projectDeletionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(projectItemSchema, { when: "It is deleted; this is what it was." })],
    example: { body: { confirm: "north" } },
  },
} as const satisfies Record<string, Endpoint>;
