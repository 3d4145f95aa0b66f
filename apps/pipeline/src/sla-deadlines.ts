import { addBusinessMinutes } from "@svc/channel-manager";
import type { DeadlineKind, SlaTarget } from "@svc/contracts";
import type { Deadline, DeadlineFacts } from "@svc/store";

const MINUTES_OF = {
  first_reply: "firstReplyMinutes",
  next_reply: "nextReplyMinutes",
  resolution: "resolutionMinutes",
} as const satisfies Record<DeadlineKind, keyof SlaTarget>;

/** What a ticket waits for, and since when. */
function waitsOf(ticket: DeadlineFacts): { kind: DeadlineKind; startedAt: Date }[] {
  const { stage, status, waitingSince, firstReplyAt, updatedAt, assignee, resolutionStartedAt } = ticket;
  if (status === "resolved" || status === "spam") return [];
  const needsPerson = stage === "review" || stage === "failed";
  const waits: { kind: DeadlineKind; startedAt: Date }[] = [];
  if (needsPerson && waitingSince !== null) {
    waits.push({ kind: firstReplyAt === null ? "first_reply" : "next_reply", startedAt: waitingSince });
  }
  // A ticket that only an agent has answered is not for a person to resolve.
  if (needsPerson || assignee !== null || resolutionStartedAt !== null) {
    waits.push({ kind: "resolution", startedAt: resolutionStartedAt ?? waitingSince ?? updatedAt });
  }
  return waits;
}

/**
 * Returns when a ticket is due by its project's SLA targets, in business time: until a person replies, and until the
 * ticket is resolved. The first target that matches counts. A deadline that is more than 400 days away is left out.
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
