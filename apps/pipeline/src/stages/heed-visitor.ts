import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** Why a message of a visitor who asks for a person goes to one. */
export const WANTS_PERSON = "the visitor asks for a person";

/**
 * Why no agent is to answer a message, whatever it could say: its visitor asks for a person, or has sent nothing but
 * files, which no agent reads. Null for every other message.
 */
export function whyForPerson({ message }: Pick<Run, "message">): string | null {
  const { channelId, channelMeta, text } = message;
  // On other channels the meta is the sender's own, and may mean anything.
  if (channelId === "widget" && channelMeta["wantsPerson"] === true) return WANTS_PERSON;
  return text.trim() === "" ? "the message has no text, only files" : null;
}

/** Leaves a message to a person, before an agent is chosen for it, where that is what it asks for. */
export async function heedVisitor(_context: StageContext, run: Run): Promise<void> {
  const why = whyForPerson(run);
  if (why !== null) run.triage = { agentId: null, confidence: 0, why };
  await Promise.resolve();
}
