import type { CannedReplyChange, CannedReplyInput, CannedReplyRender, cannedReplyEndpoints } from "@svc/contracts";
import {
  createCannedReply,
  deleteCannedReply,
  getCannedReply,
  listCannedReplies,
  renderCannedReply,
  updateCannedReply,
} from "@svc/operations";
import type { CannedReplyListInput } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Texts that operators send again and again. */
export const cannedReplyHandlers: AdminHandlers<typeof cannedReplyEndpoints> = {
  async listCannedReplies(context, { principal, listQuery, query }) {
    const input = { ...listQuery(), folder: query("folder"), tag: query("tag") } as CannedReplyListInput;
    return { list: await listCannedReplies(context, principal, input) };
  },
  async createCannedReply(context, { principal, body }) {
    const item = await createCannedReply(context, principal, (await body()) as CannedReplyInput);
    return { item, location: `/api/v1/admin/canned-replies/${item.id}`, version: item.version };
  },
  async getCannedReply(context, { principal, param }) {
    const item = await getCannedReply(context, principal, param());
    return { item, version: item.version };
  },
  async updateCannedReply(context, { principal, param, body, ifMatch }) {
    const item = await updateCannedReply(context, principal, param(), (await body()) as CannedReplyChange, ifMatch());
    return { item, version: item.version };
  },
  deleteCannedReply: async (context, { principal, param, ifMatch }) => ({
    item: await deleteCannedReply(context, principal, param(), ifMatch()),
  }),
  renderCannedReply: async (context, { principal, param, body }) => ({
    item: await renderCannedReply(context, principal, param(), (await body()) as CannedReplyRender),
  }),
};
