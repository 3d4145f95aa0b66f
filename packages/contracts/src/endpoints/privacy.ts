import { erasureReceiptSchema, privacyExportSchema, privacySubjectSchema } from "../privacy.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Privacy";
const PATH = "/api/v1/admin/privacy";

/** Personal data of one person in the key's project: export and erasure. */
export const privacyEndpoints = {
  exportPersonalData: {
    method: "POST",
    path: `${PATH}/export`,
    tag,
    summary: "Export all data of a user, a visitor or a chat",
    description:
      "A JSON document of any length, streamed as it is read. If the response is incomplete, repeat the request.",
    scope: "privacy:read",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(privacyExportSchema, { when: "All stored data. Empty if there is none." })],
    example: { body: { userId: "u-42" } },
  },
  erasePersonalData: {
    method: "POST",
    path: `${PATH}/erase`,
    tag,
    summary: "Erase all data of a user, a visitor or a chat",
    description:
      "Cannot be undone. Later messages start a new conversation. Erasing again is not an error; all counts are then 0.",
    scope: "privacy:write",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(erasureReceiptSchema, { when: "The data is erased. The response is the receipt." })],
    example: { body: { chatId: "4711", channelId: "api" } },
  },
} as const satisfies Record<string, Endpoint>;
