import { expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { CountLimit, Counters } from "@svc/queue";
import type { Request } from "express";
import { createSignInLimit } from "./create-sign-in-limit.ts";

const OWNER = "owner@example.com";

const from = (ip: string) => ({ ip, socket: {} }) as unknown as Request;

/**
 * Creates counters whose windows end immediately when they are waited for, and records the waiting times of accounts.
 */
function createCounters() {
  const counts = new Map<string, number>();
  const waits: string[] = [];
  const counters: Counters = {
    count(name: string, { limit }: CountLimit) {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      if (name.startsWith("sign-in-turn-") && count > limit) {
        waits.push(name);
        counts.delete(name);
      }
      return Promise.resolve({ isOver: count > limit, remaining: Math.max(limit - count, 0), resetMs: 1 });
    },
    peek: () => Promise.reject(new Error("not used")),
  };
  return { counters, waits };
}

const codeOf = (error: unknown) => (error instanceof ServiceError ? error.code : String(error));

test("wrong passwords from other addresses do not lock out the owner of an account", async () => {
  const { counters, waits } = createCounters();
  const limit = createSignInLimit(counters);
  for (let attempt = 0; attempt < 10; attempt++) (await limit.beginPassword(from("203.0.113.1"), OWNER, null))();
  const eleventh = await limit.beginPassword(from("203.0.113.1"), OWNER, null).catch(codeOf);
  expect(eleventh).toBe("rate_limited");
  (await limit.beginPassword(from("198.51.100.1"), OWNER, null))();
  expect(waits).toEqual([]);
});

test("attempts from many addresses are slowed down to one check every five seconds", async () => {
  const { counters, waits } = createCounters();
  const limit = createSignInLimit(counters);
  for (let attempt = 1; attempt <= 30; attempt++) {
    (await limit.beginPassword(from(`203.0.113.${attempt}`), OWNER, null))();
  }
  expect(waits.filter((name) => name.startsWith("sign-in-turn-5:")).length).toBeGreaterThanOrEqual(4);
  expect(waits.length).toBeGreaterThanOrEqual(9);
});

test("a known device is admitted while others guess, and has a separate limit", async () => {
  const { counters } = createCounters();
  const limit = createSignInLimit(counters);
  for (let attempt = 1; attempt <= 40; attempt++) {
    await limit.beginPassword(from("203.0.113.1"), OWNER, null).then((end) => end(), codeOf);
  }
  for (let attempt = 0; attempt < 10; attempt++) (await limit.beginPassword(from("203.0.113.1"), OWNER, "phone"))();
  expect(await limit.beginPassword(from("203.0.113.1"), OWNER, "phone").catch(codeOf)).toBe("rate_limited");
});

test("24 addresses with 30 attempts each do not block the queue for others", async () => {
  const { counters } = createCounters();
  const limit = createSignInLimit(counters);
  const results: string[] = [];
  const flood = Array.from({ length: 24 * 30 }, (_, index) =>
    limit.beginPassword(from(`203.0.113.${index % 24}`), `victim-${index}@example.com`, null).then(
      (end) => {
        results.push("attacker");
        setImmediate(end);
      },
      (error: unknown) => void results.push(codeOf(error)),
    ),
  );
  // By then every attempt has a slot, or is rejected.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  const end = await limit.beginPassword(from("198.51.100.1"), OWNER, null);
  const before = results.filter((result) => result === "attacker").length;
  end();
  await Promise.all(flood);
  expect(before).toBeLessThanOrEqual(3);
  expect(results.filter((result) => result === "rate_limited").length).toBeGreaterThan(600);
});

test("links and single sign-on use no slot of passwords", async () => {
  const { counters } = createCounters();
  const limit = createSignInLimit(counters);
  for (let count = 0; count < 30; count++) await limit.count(from("203.0.113.1"), "oidc");
  expect(await limit.count(from("203.0.113.1"), "oidc").catch(codeOf)).toBe("rate_limited");
  (await limit.beginPassword(from("203.0.113.1"), OWNER, null))();
});
