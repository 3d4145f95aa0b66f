import { asProjectId } from "@svc/store";
import { z } from "zod";
import type { CallManners } from "./call-manners.ts";
import { chatWithModel } from "./chat-with-model.ts";
import type { ModelTarget } from "./chat-with-model.ts";
import { ModelError } from "./model-error.ts";

/** Nobody's: the question is asked for no project and written down nowhere. */
const NOBODY = asProjectId("00000000-0000-0000-0000-000000000000");

/**
 * Asks a model one tiny question, to see whether it works; null, or what is wrong. It is asked whatever happened before,
 * and not written down. Rejects with the reason of the signal when that is aborted.
 */
export async function findModelFault(
  target: ModelTarget,
  { manners, signal }: { manners: CallManners; signal: AbortSignal },
): Promise<ModelError | null> {
  const tally = { inputTokens: 0, outputTokens: 0, toolCalls: 0, hasHandedOut: false };
  const request = {
    caller: { project: NOBODY, ticketId: null, purpose: "answer" },
    system: "You check that you can answer. Answer in JSON.",
    messages: [{ role: "user", text: "How many days has a week?" }],
    schema: z.object({ days: z.number() }),
    schemaName: "answer",
    signal,
  } as const;
  try {
    await chatWithModel(target, request, { manners, tally });
    return null;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}
