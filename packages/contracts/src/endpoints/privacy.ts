import { erasureReceiptSchema, privacyExportSchema, privacySubjectSchema } from "../privacy.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Privacy";
const PATH = "/api/v1/admin/privacy";

/** What is held of one person, of the key's project: handed out, or erased. */
export const privacyEndpoints = {
  exportPersonalData: {
    method: "POST",
    path: `${PATH}/export`,
    tag,
    summary: "Hand out all that is held of a user, a visitor or a chat",
    description:
      "One JSON document of any length, written while it is read. An answer that breaks off is not whole: ask again.",
    scope: "privacy:read",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(privacyExportSchema, { when: "All that is held; nothing is no fault." })],
    example: { body: { userId: "u-42" } },
  },
  erasePersonalData: {
    method: "POST",
    path: `${PATH}/erase`,
    tag,
    summary: "Erase all that is held of a user, a visitor or a chat",
    description:
      "Cannot be undone. Messages that come afterwards begin a new conversation. Erasing twice is no fault: then nothing is counted.",
    scope: "privacy:write",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(erasureReceiptSchema, { when: "It is erased; this is the receipt." })],
    example: { body: { chatId: "4711", channelId: "api" } },
  },
} as const satisfies Record<string, Endpoint>;
