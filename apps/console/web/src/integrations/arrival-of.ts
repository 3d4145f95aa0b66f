import type { TicketItem, TicketStage } from "@svc/contracts";

/** What has become of a message, as far as whoever tries a channel wants to know. */
export type Arrival = "waiting" | "working" | "answered" | "held" | "failed";

const BY_STAGE = {
  received: "working",
  triage: "working",
  retrieval: "working",
  agent: "working",
  delivering: "working",
  review: "held",
  done: "answered",
  failed: "failed",
} as const satisfies Record<TicketStage, Arrival>;

/**
 * How far the newest message is, against the newest ticket when the test began: null where there was none, undefined
 * while that is not known.
 */
export function arrivalOf(
  first: Pick<TicketItem, "id" | "version"> | null | undefined,
  now: Pick<TicketItem, "id" | "version" | "stage"> | null,
): Arrival {
  if (first === undefined || now === null) return "waiting";
  if (first !== null && first.id === now.id && first.version === now.version) return "waiting";
  return BY_STAGE[now.stage];
}
