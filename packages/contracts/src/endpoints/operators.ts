import { operatorChangeSchema, operatorInputSchema, operatorLinkSchema, operatorSchema } from "../operator.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Operators";
const PATH = "/api/v1/admin/operators";

/** People who work with the product. */
export const operatorEndpoints = {
  listOperators: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List operators, newest first",
    description: "`q` is looked for in name and e-mail address.",
    scope: "admin:*",
    query: listQuerySchema,
    answers: [listAnswer(operatorSchema)],
  },
  createOperator: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Make an operator",
    description: "The e-mail address is unique, in any case of its letters. Passwords are never shown.",
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
    summary: "Read an operator",
    scope: "admin:*",
    answers: [itemAnswer(operatorSchema)],
  },
  updateOperator: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change an operator",
    description:
      "What is left out stays as it is; roles are replaced as a whole. The last administrator stays one. Somebody who is disabled keeps their tickets: find them by `GET /api/v1/admin/tickets?assignee=`.",
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
      "The last administrator cannot be deleted. Tickets stay assigned to whoever is deleted: find them by `GET /api/v1/admin/tickets?assignee=`, and unassign them.",
    scope: "admin:*",
    ifMatch: true,
    answers: [itemAnswer(operatorSchema)],
  },
  createOperatorLink: {
    method: "POST",
    path: `${PATH}/{id}/link`,
    tag,
    summary: "Make a link with which an operator chooses a password",
    description:
      "It can be used once and within a day; an earlier one is void. All sessions of the operator end when it is used.",
    scope: "admin:*",
    answers: [itemAnswer(operatorLinkSchema)],
  },
} as const satisfies Record<string, Endpoint>;
