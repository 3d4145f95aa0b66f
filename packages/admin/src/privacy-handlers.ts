import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PrivacySubject, privacyEndpoints } from "@svc/contracts";
import { erasePersonalData, exportPersonalData, writePersonalData } from "@svc/operations";
import type { PersonalData } from "@svc/operations";
import { errorCode } from "@svc/primitives";
import type { AdminHandlers } from "./admin-handler.ts";

async function* answerOf(data: PersonalData): AsyncGenerator<string> {
  yield '{"ok":true,"item":';
  yield* writePersonalData(data);
  yield "}";
}

/** True when the caller hung up, or its answer was cut: nobody is there to be told. */
function isHangUp(error: unknown): boolean {
  return errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE";
}

/** What is held of one person: handed out or erased. */
export const privacyHandlers: AdminHandlers<typeof privacyEndpoints> = {
  async exportPersonalData(context, { principal, body, response }) {
    const data = await exportPersonalData(context, principal, (await body()) as PrivacySubject);
    response.status(200).setHeader("Content-Type", "application/json; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    try {
      // At the caller's speed. A fault in the middle cuts the connection: half an answer must not pass for a whole one.
      await pipeline(Readable.from(answerOf(data)), response);
    } catch (error) {
      if (!isHangUp(error)) throw error;
    }
    return "answered";
  },
  erasePersonalData: async (context, { principal, body }) => ({
    item: await erasePersonalData(context, principal, (await body()) as PrivacySubject),
  }),
};
