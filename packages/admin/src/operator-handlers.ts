import type { OperatorChange, OperatorInput, operatorEndpoints } from "@svc/contracts";
import {
  createOperator,
  createOperatorLink,
  deleteOperator,
  getOperator,
  listOperators,
  updateOperator,
} from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** People who work with the product. */
export const operatorHandlers: AdminHandlers<typeof operatorEndpoints> = {
  listOperators: async (context, { principal, listQuery }) => ({
    list: await listOperators(context, principal, listQuery()),
  }),
  async createOperator(context, { principal, body }) {
    const item = await createOperator(context, principal, (await body()) as OperatorInput);
    return { item, location: `/api/v1/admin/operators/${item.id}`, version: item.version };
  },
  async getOperator(context, { principal, param }) {
    const item = await getOperator(context, principal, param());
    return { item, version: item.version };
  },
  async updateOperator(context, { principal, param, body, ifMatch }) {
    const item = await updateOperator(context, principal, param(), (await body()) as OperatorChange, ifMatch());
    return { item, version: item.version };
  },
  deleteOperator: async (context, { principal, param, ifMatch }) => ({
    item: await deleteOperator(context, principal, param(), ifMatch()),
  }),
  createOperatorLink: async (context, { principal, param }) => ({
    item: await createOperatorLink(context, principal, param()),
  }),
};
