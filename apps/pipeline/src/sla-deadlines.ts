import { addBusinessMinutes } from "@svc/channel-manager";
import type { DeadlineKind, SlaTarget } from "@svc/contracts";
import type { Deadline, DeadlineFacts } from "@svc/store";

const MINUTES_OF = {
  first_reply: "firstReplyMinutes",
  next_reply: "nextReplyMinutes",
  resolution: "resolutionMinutes",
} as const satisfies Record<DeadlineKind, keyof SlaTarget>;

/** Returns what a ticket waits for, and since when. */
function waitsOf(ticket: DeadlineFacts): { kind: DeadlineKind; startedAt: Date }[] {
  const { stage, status, waitingSince, firstReplyAt, updatedAt, assignee, resolutionStartedAt } = ticket;
  if (status === "resolved" || status === "spam") return [];
  const needsPerson = stage === "review" || stage === "failed";
  const waits: { kind: DeadlineKind; startedAt: Date }[] = [];
  if (needsPerson && waitingSince !== null) {
    waits.push({ kind: firstReplyAt === null ? "first_reply" : "next_reply", startedAt: waitingSince });
  }
  // A person need not resolve a ticket that only an agent has answered.
  if (needsPerson || assignee !== null || resolutionStartedAt !== null) {
    waits.push({ kind: "resolution", startedAt: resolutionStartedAt ?? waitingSince ?? updatedAt });
  }
  return waits;
}

/**
 * Returns the deadlines of a ticket by its project's SLA targets, in business time: for a person's reply, and for the
 * resolution. The first matching target counts. Deadlines more than 400 days away are omitted.
 */
export function deadlinesOf(ticket: DeadlineFacts): Deadline[] {
  const { priority, channelId, slaTargets, businessHours } = ticket;
  const target = slaTargets.find(
    (one) => (one.priority ?? priority) === priority && (one.channelId ?? channelId) === channelId,
  );
  if (target === undefined) return [];
  return waitsOf(ticket).flatMap(({ kind, startedAt }) => {
    const minutes = target[MINUTES_OF[kind]];
    const dueAt = minutes === undefined ? null : addBusinessMinutes(businessHours, startedAt, minutes);
    return dueAt === null ? [] : [{ kind, startedAt, dueAt }];
  });
}
