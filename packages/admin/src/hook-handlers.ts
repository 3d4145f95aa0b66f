import type { HookChange, HookInput, HookRotateInput, HookTestInput, hookEndpoints } from "@svc/contracts";
import {
  createHook,
  deleteHook,
  getHook,
  listHookBodies,
  listHooks,
  retryHookBody,
  rotateHookSecret,
  testHook,
  updateHook,
} from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Inbound hooks. */
export const hookHandlers: AdminHandlers<typeof hookEndpoints> = {
  listHooks: async (context, { principal, listQuery }) => ({ list: await listHooks(context, principal, listQuery()) }),
  async createHook(context, { principal, body }) {
    const item = await createHook(context, principal, (await body()) as HookInput);
    return { item, location: `/api/v1/admin/hooks/${item.id}`, version: item.version };
  },
  async getHook(context, { principal, param }) {
    const item = await getHook(context, principal, param());
    return { item, version: item.version };
  },
  async updateHook(context, { principal, param, body, ifMatch }) {
    const item = await updateHook(context, principal, param(), (await body()) as HookChange, ifMatch());
    return { item, version: item.version };
  },
  deleteHook: async (context, { principal, param, ifMatch }) => ({
    item: await deleteHook(context, principal, param(), ifMatch()),
  }),
  async rotateHookSecret(context, { principal, param, body }) {
    const item = await rotateHookSecret(context, principal, param(), (await body()) as HookRotateInput);
    return { item, version: item.version };
  },
  listHookBodies: async (context, { principal, param }) => ({
    list: await listHookBodies(context, principal, param()),
  }),
  retryHookBody: async (context, { principal, param }) => ({
    item: await retryHookBody(context, principal, param(), param("bodyId")),
  }),
  testHook: async (context, { principal, param, body }) => ({
    item: await testHook(context, principal, param(), (await body()) as HookTestInput),
  }),
};
