import { ServiceError } from "@svc/contracts";
import { listDeadLetters, retryDeadLetter } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import { localPrincipal } from "./local-principal.ts";
import { waitForQueues } from "./wait-for-queues.ts";

/**
 * Sends one dead letter of a project again, or all of them, and answers the ids of those that were sent. One that
 * somebody else sends again at the same time is left out. Throws ServiceError `not_found` for a single one that is none.
 */
export async function retryDeadLetters(
  resources: Resources,
  projectName: string,
  messageId: string | undefined,
): Promise<string[]> {
  const principal = await localPrincipal(resources.store, projectName);
  // Where the queues are away, the sweeper of the pipeline announces the messages later.
  await waitForQueues(resources.queues);
  if (messageId !== undefined) {
    await retryDeadLetter(resources, principal, messageId);
    return [messageId];
  }
  const retried = new Set<string>();
  for (;;) {
    // A list holds the newest only; what fails again meanwhile is not sent a second time.
    const letters = (await listDeadLetters(resources, principal)).filter((letter) => !retried.has(letter.messageId));
    if (letters.length === 0) return [...retried];
    for (const letter of letters) {
      try {
        await retryDeadLetter(resources, principal, letter.messageId);
        retried.add(letter.messageId);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
      }
    }
  }
}
