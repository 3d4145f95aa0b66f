import type { Agent, ReviewPolicy } from "@svc/contracts";
import { percentOf } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { promisesPerson } from "./promises-person.ts";

/** Whether an answer goes out without a person, and why so. */
export interface SendingChoice {
  sends: boolean;
  why: string;
  /** True when it is sent, and a person has to look all the same: it promises one, or the customer asks for one. */
  needsPerson?: true;
}

/** What an agent's policy says about an answer of this confidence; `why` says how the agent came to it. */
const POLICIES: Record<ReviewPolicy, (threshold: number, confidence: number, why: string) => SendingChoice> = {
  auto: (_threshold, confidence) => ({ sends: true, why: `sent automatically (confidence ${percentOf(confidence)})` }),
  review: () => ({ sends: false, why: "the agent's answers are always reviewed" }),
  auto_if: (threshold, confidence, why) =>
    confidence >= threshold
      ? { sends: true, why: `confidence ${percentOf(confidence)}` }
      : {
          sends: false,
          why: `confidence ${percentOf(confidence)} (threshold ${percentOf(threshold)}); ${why}`,
        },
};

/**
 * Whether an agent's answer goes out without a person, in a conversation that no person has: when it says something,
 * nothing in it asks for a person, and the agent's policy allows it. A promise of a person is kept: such an answer is
 * held, or, where it goes out whatever it says (a fixed reply, the policy `auto`), a person has to look behind it.
 */
export function sendsAnswer(
  { reviewPolicy, autoThreshold, fixedReply }: Pick<Agent, "reviewPolicy" | "autoThreshold" | "fixedReply">,
  { text, confidence, why, needsPerson, model }: Pick<Answer, "text" | "confidence" | "why" | "needsPerson" | "model">,
): SendingChoice {
  if (text === null) return { sends: false, why };
  if (model?.mustReview === true) return { sends: false, why };
  const choice = POLICIES[reviewPolicy](autoThreshold, confidence, why);
  if (!choice.sends) return choice;
  if (needsPerson === true) {
    return fixedReply === null ? { sends: false, why } : { ...choice, why: `${choice.why}; ${ASKED}`, needsPerson };
  }
  if (!promisesPerson(text)) return choice;
  return fixedReply === null && reviewPolicy !== "auto"
    ? { sends: false, why: PROMISED }
    : { ...choice, why: `${choice.why}; ${PROMISED}`, needsPerson: true };
}

const ASKED = "the customer asks for a person";
const PROMISED = "the answer promises a follow-up by a person";
