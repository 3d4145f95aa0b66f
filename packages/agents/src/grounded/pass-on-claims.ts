import { z } from "zod";
import { promisesPerson } from "../promises-person.ts";
import { claimSchema } from "./answer-schema.ts";
import type { Claim } from "./answer-schema.ts";
import { joinClaims } from "./join-claims.ts";
import type { JudgedClaim } from "./judge-claim.ts";
import type { TextStream } from "./stream-text.ts";

const partialSchema = z.object({
  answered: z.literal(true),
  needsPerson: z.literal(false),
  claims: z.array(z.unknown()),
});

/**
 * Makes the listener that passes on the claims of an answer while it comes: each as soon as it is complete and found
 * good, and none from the first one on that puts the answer in doubt, promises a person or needs a second opinion.
 */
export function passOnClaims(judge: (claim: Claim) => JudgedClaim, stream: TextStream): (partial: unknown) => void {
  return (partial) => {
    const read = partialSchema.safeParse(partial);
    if (!read.success) return;
    // The last one may still grow.
    const complete = read.data.claims.slice(0, -1).map((claim) => claimSchema.safeParse(claim));
    const good: string[] = [];
    for (const { success, data } of complete) {
      const judged = success ? judge(data) : null;
      if (judged === null || judged.isSuspect || promisesPerson(judged.text)) break;
      // What needs a second opinion would stand behind what follows.
      if (judged.kind === "unsure") break;
      if (judged.kind !== "unsupported") good.push(judged.text);
    }
    stream.grow(joinClaims(good));
  };
}
