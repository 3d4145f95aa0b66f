import type { Store } from "@svc/store";

/** Far more than a network takes, far less than what receivers of callbacks accept as the age of a signature (5 min). */
const TOLERANCE_MS = 30_000;

/**
 * Compares the clock of this process with that of the database, which all processes share. Answers in words when they
 * are more than 30 s apart, and null otherwise. Rejects as the store does.
 */
export async function findClockFault(store: Pick<Store, "readTimeMs">): Promise<string | null> {
  const before = Date.now();
  const there = await store.readTimeMs();
  // The answer is from between the two moments.
  const apart = Math.round((before + Date.now()) / 2 - there);
  if (Math.abs(apart) <= TOLERANCE_MS) return null;
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const by = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
  return `The clock of this machine is ${by} ${apart > 0 ? "ahead of" : "behind"} the database's clock. Callback signatures and sign-ins contain timestamps and may be rejected: synchronize both with NTP.`;
}
