import type { deliveryEndpoints } from "@svc/contracts";
import { getDelivery, listDeliveries, replayDelivery } from "@svc/operations";
import type { DeliveryListInput } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** The callbacks of a project and their replay. */
export const deliveryHandlers: AdminHandlers<typeof deliveryEndpoints> = {
  async listDeliveries(context, { principal, listQuery, query }) {
    const input = { ...listQuery(), state: query("state") } as DeliveryListInput;
    return { list: await listDeliveries(context, principal, input) };
  },
  getDelivery: async (context, { principal, param }) => ({ item: await getDelivery(context, principal, param()) }),
  replayDelivery: async (context, { principal, param }) => ({
    item: await replayDelivery(context, principal, param()),
  }),
};
