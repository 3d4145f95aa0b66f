import type { NotificationSettings } from "@svc/contracts";
import { endOfQuietHours } from "./delivery-time.ts";

/**
 * Delay of a notification while the operator has the console open, which shows the events, and the maximum of all such
 * delays.
 */
const ONLINE_WAIT_MS = 60_000;
const ONLINE_WAIT_MAX_MS = 900_000;

/** Returns how long a notification waits, in milliseconds: until the quiet hours end, or while the console is open. */
export function waitMsOf(
  settings: Pick<NotificationSettings, "quietHours" | "timeZone">,
  { isOnline, since }: { isOnline: boolean; since: Date },
): number {
  const now = new Date();
  const quietMs = endOfQuietHours(settings, now).getTime() - now.getTime();
  if (quietMs > 0) return quietMs;
  return isOnline && now.getTime() - since.getTime() < ONLINE_WAIT_MAX_MS ? ONLINE_WAIT_MS : 0;
}
