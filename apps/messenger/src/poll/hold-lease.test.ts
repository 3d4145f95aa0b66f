import { expect, test } from "@jest/globals";
import { collectLog, waitFor } from "@svc/testing";
import { holdLease } from "./hold-lease.ts";

/** A lease in memory with the store's interface, which the test can take over. */
function leaseInMemory() {
  let holder: string | null = null;
  return {
    takeAway: () => {
      holder = "another";
    },
    free: () => {
      holder = null;
    },
    holder: () => holder,
    table: {
      claim: (_name: string, asking: string) => {
        holder ??= asking;
        return Promise.resolve(holder === asking);
      },
      release: (_name: string, asking: string) => {
        if (holder === asking) holder = null;
        return Promise.resolve();
      },
    },
  };
}

/** Resolves when the signal is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

test("restarts work that failed, and logs the error", async () => {
  const lease = leaseInMemory();
  const { log, lines } = collectLog();
  let begun = 0;
  const held = holdLease({ store: { serviceLeases: lease.table }, log }, "messenger/1", async (signal) => {
    begun += 1;
    if (begun === 1) throw new Error("a fault of ours");
    await untilAborted(signal);
  });
  await waitFor(() => begun === 2, { what: "the work to restart" });
  expect(held.isHeld()).toBe(true);
  await held.stop();
  expect(lease.holder()).toBeNull();
  expect(lines().some((line) => JSON.stringify(line).includes("a fault of ours"))).toBe(true);
});

test("ends the work when another replica has the lease, and restarts it when that lease expires", async () => {
  const lease = leaseInMemory();
  const ended: boolean[] = [];
  let begun = 0;
  const held = holdLease(
    { store: { serviceLeases: lease.table }, log: collectLog().log },
    "messenger/1",
    async (signal) => {
      begun += 1;
      await untilAborted(signal);
      ended.push(held.isHeld());
    },
  );
  await waitFor(() => begun === 1, { what: "the work to begin" });
  lease.takeAway();
  await waitFor(() => ended.length === 1, { what: "the work to end" });
  expect(ended).toEqual([false]);
  lease.free();
  await waitFor(() => begun === 2, { what: "the work to begin again" });
  await held.stop();
  expect(lease.holder()).toBeNull();
});
