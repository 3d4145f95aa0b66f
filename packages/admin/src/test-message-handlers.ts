import type { TestMessageInput, testMessageEndpoints } from "@svc/contracts";
import { sendTestMessage } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Test messages. */
export const testMessageHandlers: AdminHandlers<typeof testMessageEndpoints> = {
  async sendTestMessage(context, { principal, body }) {
    const item = await sendTestMessage(context, principal, (await body()) as TestMessageInput);
    return { json: { ok: true, item }, status: 202 };
  },
};
