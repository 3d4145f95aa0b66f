import { expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { testLog, waitFor } from "@svc/testing";
import { createLeaseManager } from "@svc/work";

const claimOf = (leaseId: string) => ({ leaseId });
const unavailable = () => Promise.reject(new ServiceError("unavailable", "The database is unreachable. Retry."));

test("aborts work whose lease is lost, and no other", async () => {
  const lost = new Set<string>();
  const leases = createLeaseManager(testLog(), {
    name: "tests",
    ms: 60_000,
    renewMs: 5,
    renew: (claims) =>
      Promise.resolve(new Set(claims.map(({ leaseId }) => leaseId).filter((leaseId) => !lost.has(leaseId)))),
  });
  const [first, second] = [leases.hold(claimOf("a")), leases.hold(claimOf("b"))];
  lost.add("a");
  await waitFor(() => first.signal.aborted, { what: "the first to be aborted" });
  expect([first.isLost(), second.isLost(), second.signal.aborted]).toEqual([true, false, false]);
  for (const lease of [first, second]) lease.drop();
});

test("reports only work whose lease expired before it could be renewed", async () => {
  const expired: string[] = [];
  let delayMs = 0;
  const managerOf = (ms: number) =>
    createLeaseManager(testLog(), {
      name: "tests",
      ms,
      renewMs: 5,
      async renew() {
        const startedAt = performance.now();
        await waitFor(() => performance.now() >= startedAt + delayMs, { what: "the renewal" });
        if (delayMs > 0) throw new Error("the renewal failed");
        return new Set<string>();
      },
      onExpired: ({ leaseId }) => void expired.push(leaseId),
    });
  // Its lease does not expire, however busy the machine is.
  const cancelled = managerOf(60_000).hold(claimOf("cancelled"));
  await waitFor(() => cancelled.isLost(), { what: "the loss" });
  expect(expired).toEqual([]);
  cancelled.drop();

  delayMs = 60;
  const leases = managerOf(40);
  const late = leases.hold(claimOf("late"));
  await waitFor(() => leases.renewalLateMs() > 0 || late.isLost(), { what: "a late renewal" });
  delayMs = 0;
  await waitFor(() => late.isLost(), { what: "the loss" });
  expect(expired).toEqual(["late"]);
  late.drop();
});

test("during an outage aborts only work whose effects cannot be fenced, before its lease expires", async () => {
  const managerOf = (isUnfenced: boolean) =>
    createLeaseManager(testLog(), { name: "tests", ms: 100, renewMs: 25, renewOne: unavailable, isUnfenced });
  const startedAt = performance.now();
  const [fenced, unfenced] = [managerOf(false).hold(claimOf("a")), managerOf(true).hold(claimOf("b"))];
  let abortedAfterMs = 0;
  unfenced.signal.addEventListener("abort", () => {
    abortedAfterMs = performance.now() - startedAt;
  });
  await waitFor(() => unfenced.signal.aborted, { what: "the work to be aborted" });
  expect(abortedAfterMs).toBeGreaterThanOrEqual(70);
  // It may still have the lease: results are recorded while the store is unavailable.
  expect([unfenced.isLost(), fenced.signal.aborted]).toEqual([false, false]);
  for (const lease of [fenced, unfenced]) lease.drop();
});

test("renews nothing while no lease is held, and reports no delay afterwards", async () => {
  let renewals = 0;
  const leases = createLeaseManager(testLog(), {
    name: "tests",
    ms: 60_000,
    renewMs: 5,
    renewOne: () => Promise.resolve(renewals++ >= 0),
  });
  const lease = leases.hold(claimOf("a"));
  await waitFor(() => renewals >= 2, { what: "two renewals" });
  expect(leases.longestMs()).toBeGreaterThan(0);
  lease.drop();
  const before = renewals;
  const other = leases.hold(claimOf("b"));
  other.drop();
  await new Promise(setImmediate);
  expect([renewals, leases.longestMs(), leases.renewalLateMs()]).toEqual([before, 0, 0]);
});

test("says how long nothing has been running", async () => {
  const leases = createLeaseManager(testLog(), { name: "tests", ms: 60_000, renewMs: 60_000 });
  expect(leases.idleMs()).toBe(Infinity);
  const held = [leases.hold(claimOf("a")), leases.hold(claimOf("b"))];
  held[0]?.drop();
  expect(leases.idleMs()).toBe(0);
  const endedAt = performance.now();
  held[1]?.drop();
  await waitFor(() => leases.idleMs() >= 20, { what: "some time to pass" });
  expect(leases.idleMs()).toBeLessThanOrEqual(performance.now() - endedAt);
});
