import type { ClaimedReview } from "@svc/store";
import { makeApprovedCalls } from "../agent-tools.ts";
import type { Stage } from "../run-stages.ts";
import { answer } from "../stages/answer.ts";
import { answerEarlier } from "../stages/answer-earlier.ts";
import { formatReview } from "../stages/format-review.ts";
import { keepDraft } from "../stages/keep-draft.ts";
import { retrieve } from "../stages/retrieve.ts";
import { sendReview } from "../stages/send-review.ts";
import { triage } from "../stages/triage.ts";
import type { ReviewRun } from "./review-run.ts";

/** The stages that a person's decision goes through, in order: a reply is sent, or a draft is made anew. */
export const REVIEW_STAGES: Record<ClaimedReview["work"]["kind"], readonly Stage<ReviewRun>[]> = {
  send: [formatReview, sendReview],
  draft: [makeApprovedCalls, triage, retrieve, answer, answerEarlier, keepDraft],
};
