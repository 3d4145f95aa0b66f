import { findClockFault } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Check } from "./check.ts";

/** Checks that this machine and the database agree about the time. */
export async function checkClock(store: Pick<Store, "readTimeMs">): Promise<Check> {
  const fault = await findClockFault(store);
  if (fault === null) return { name: "Clock", status: "ok", detail: "matches the database's clock" };
  return { name: "Clock", status: "warn", detail: fault, advice: "Synchronize it: timedatectl set-ntp true" };
}
