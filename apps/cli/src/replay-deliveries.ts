import type { Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import { listDeliveries, replayDelivery } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import { localPrincipal } from "./local-principal.ts";
import { waitForQueues } from "./wait-for-queues.ts";

const PAGE = 200;

/** The ids of all dead deliveries of the principal's project, oldest first. */
async function listDeadIds(store: Store, principal: Principal): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await listDeliveries({ store }, principal, {
      state: "dead",
      limit: PAGE,
      cursor: cursor ?? undefined,
    });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids.reverse();
}

/** True when it is replayed now; false when somebody else has done so in the meantime. */
async function replayIfStillDead(resources: Resources, principal: Principal, id: string): Promise<boolean> {
  try {
    await replayDelivery(resources, principal, id);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && ["not_found", "invalid_request"].includes(error.code)) return false;
    throw error;
  }
}

/**
 * Makes one delivery of a project again, or all that are dead now, and answers the ids of those that are. Throws
 * ServiceError `not_found` or `invalid_request` for a single one that cannot be replayed.
 */
export async function replayDeliveries(
  resources: Resources,
  projectName: string,
  id: string | undefined,
): Promise<string[]> {
  const principal = await localPrincipal(resources.store, projectName);
  // Where the queues are away, the sweeper of the API announces the deliveries later.
  await waitForQueues(resources.queues);
  if (id !== undefined) {
    await replayDelivery(resources, principal, id);
    return [id];
  }
  // What dies again meanwhile is not replayed a second time: the list is read before.
  const replayed: string[] = [];
  for (const deadId of await listDeadIds(resources.store, principal)) {
    if (await replayIfStillDead(resources, principal, deadId)) replayed.push(deadId);
  }
  return replayed;
}
