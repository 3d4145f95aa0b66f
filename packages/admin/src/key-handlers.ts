import type { KeyInput, RotateInput, keyEndpoints } from "@svc/contracts";
import { createKey, getKey, listKeys, revokeKey, rotateKey } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

const locationOf = ({ id }: { id: string }) => `/api/v1/admin/keys/${id}`;

/** API keys (service document, section 4.4). */
export const keyHandlers: AdminHandlers<typeof keyEndpoints> = {
  listKeys: async (context, { principal, listQuery }) => ({ list: await listKeys(context, principal, listQuery()) }),
  async createKey(context, { principal, body }) {
    const item = await createKey(context, principal, (await body()) as KeyInput);
    return { item, location: locationOf(item) };
  },
  getKey: async (context, { principal, param }) => ({ item: await getKey(context, principal, param()) }),
  revokeKey: async (context, { principal, param }) => ({ item: await revokeKey(context, principal, param()) }),
  async rotateKey(context, { principal, param, body }) {
    const item = await rotateKey(context, principal, param(), (await body()) as RotateInput);
    return { item, location: locationOf(item) };
  },
};
