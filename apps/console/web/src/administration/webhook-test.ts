import type { DeliveryItem } from "@svc/contracts";
import { pauseMs } from "../api/connection.ts";

/** Returns the values to filter by: none if all are chosen, because a filter leaves out what has no value. */
export const filterOf = <Value extends string>(chosen: readonly Value[], all: readonly Value[]): Value[] =>
  all.length > 0 && all.every((value) => chosen.includes(value)) ? [] : [...chosen];

/** How often, and how many times, the result of a test is looked up: for about 5 seconds. */
const POLL_MS = 500;
const POLLS_MAX_COUNT = 10;

/** Returns the first attempt of a test event; null if there is none within some seconds. */
export async function waitForResult(
  read: () => Promise<Pick<DeliveryItem, "attempts">>,
  pollMs = POLL_MS,
): Promise<DeliveryItem["attempts"][number] | null> {
  for (let polls = 0; polls < POLLS_MAX_COUNT; polls++) {
    const [attempt] = (await read()).attempts;
    // An attempt that is still running has neither.
    if (attempt !== undefined && (attempt.status !== null || attempt.error !== null)) return attempt;
    await pauseMs(pollMs);
  }
  return null;
}
