import type { Log } from "@svc/log";
import { LEASE_MS } from "@svc/store";
import type { LeaseRef, Store } from "@svc/store";
import { count } from "@svc/telemetry";
import { createLeaseManager } from "@svc/work";
import type { LeaseManager } from "@svc/work";
import { progressOf } from "./run.ts";
import type { Run } from "./run.ts";

const RENEW_MS = 1_000;

/** Work on a conversation under its lease. */
export interface ChatClaim extends LeaseRef {
  /** A run whose findings are stored while it lasts; null before it starts. Absent for a decision, which stores none. */
  run?: Run | null;
  /** How many of its stages have stored their findings. */
  storedStages?: number;
}

/** Renews the leases of conversations, for messages and decisions alike. */
export type ChatLeases = LeaseManager<ChatClaim>;

/** Creates the manager of the leases of conversations. With each renewal it stores what long runs have found. */
export function createChatLeases({ store, log }: { store: Store; log: Log }): ChatLeases {
  async function storeProgress(claim: ChatClaim): Promise<void> {
    if (claim.run == null) return;
    const progress = progressOf(claim.run);
    const stages = Object.keys(progress).length;
    if (stages === claim.storedStages) return;
    await store.chats.saveProgress(claim.project, claim.run.message.messageId, claim.leaseId, progress);
    claim.storedStages = stages;
  }

  return createLeaseManager<ChatClaim>(log, {
    name: "conversations",
    ms: LEASE_MS,
    renewMs: RENEW_MS,
    renew: (claims) => store.chats.renewLeases([...claims]),
    async onRenewed(claims) {
      for (const claim of claims) await storeProgress(claim);
    },
    onExpired({ ticketId }, lateMs) {
      count("svc_lease_lapses_total", {});
      log.warn(
        { ticketId, lateMs: Math.round(lateMs) },
        "lease expired before it was renewed; another process has taken over the conversation",
      );
    },
  });
}
