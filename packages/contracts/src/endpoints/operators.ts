import { operatorChangeSchema, operatorInputSchema, operatorLinkSchema, operatorSchema } from "../operator.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Operators";
const PATH = "/api/v1/admin/operators";

/** Operators. */
export const operatorEndpoints = {
  listOperators: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List operators, newest first",
    description: "`q` searches name and email address.",
    scope: "admin:*",
    query: listQuerySchema,
    answers: [listAnswer(operatorSchema)],
  },
  createOperator: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create an operator",
    description: "The email address must be unique (case-insensitive). Passwords are never returned.",
    scope: "admin:*",
    body: { schema: operatorInputSchema },
    answers: [createdAnswer(operatorSchema)],
    example: {
      body: { email: "ann@example.com", name: "Ann", roles: [{ project: "default", role: "operator" }] },
    },
  },
  getOperator: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get an operator",
    scope: "admin:*",
    answers: [itemAnswer(operatorSchema)],
  },
  updateOperator: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update an operator",
    description:
      "Omitted fields stay unchanged. Roles are replaced as a whole. The last administrator cannot lose the role. Disabling an operator does not unassign tickets; find them with `GET /api/v1/admin/tickets?assignee=`.",
    scope: "admin:*",
    body: { schema: operatorChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(operatorSchema)],
    example: { body: { name: "Ann Miller" } },
  },
  deleteOperator: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete an operator",
    description:
      "The last administrator cannot be deleted. Tickets stay assigned to a deleted operator; find them with `GET /api/v1/admin/tickets?assignee=`, and unassign them.",
    scope: "admin:*",
    ifMatch: true,
    answers: [itemAnswer(operatorSchema)],
  },
  createOperatorLink: {
    method: "POST",
    path: `${PATH}/{id}/link`,
    tag,
    summary: "Create a password link for an operator",
    description:
      "The link is valid for one day and can be used once. Earlier links become invalid. When it is used, all sessions of the operator end.",
    scope: "admin:*",
    answers: [itemAnswer(operatorLinkSchema)],
  },
} as const satisfies Record<string, Endpoint>;
