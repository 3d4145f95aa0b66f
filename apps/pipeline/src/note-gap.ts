import { questionAsWritten, questionOf } from "@svc/agents";
import { questionTerms } from "@svc/knowledge";
import { withinMs } from "@svc/primitives";
import { languageOf } from "./language-of.ts";
import type { Run } from "./run.ts";
import type { StageContext } from "./stage-context.ts";

/** A customer does not wait longer for the sake of a statistic: the rest happens behind the reply. */
const WAIT_MS = 250;

/**
 * Notes the question of a message that is held for want of a good answer. Called before the outcome is committed, so
 * that a run that is done again after a crash notes it again, which counts once. Never throws, and takes 250 ms at
 * most.
 */
export async function noteGap(context: StageContext, run: Run): Promise<void> {
  if (run.gate?.isGap !== true) return;
  const noting = note(context, run).catch((error: unknown) => {
    context.log.warn({ error, messageId: run.message.messageId }, "failed to record a question without an answer");
  });
  await withinMs(noting, WAIT_MS);
}

async function note({ store }: StageContext, { message, project, triage, language }: Run): Promise<void> {
  const known = language ?? languageOf(message.text);
  const terms = await questionTerms({ store }, questionOf(message.text), known);
  // What has no words asks nothing that an article could answer.
  if (terms.length === 0) return;
  const { messageId, ticketId, text } = message;
  await store.gaps.note(project.id, {
    messageId,
    ticketId,
    text,
    question: questionAsWritten(text),
    terms,
    language: known,
    agentId: triage?.agentId ?? null,
  });
}
