import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import type { NewAuditEvent, Store } from "@svc/store";
import { collectLog } from "@svc/testing";
import type { Request, Response } from "express";
import { createDenialAudit } from "./denial-audit.ts";
import type { DenialAudit } from "./denial-audit.ts";

const ROUTES = ["/api/v1/admin/keys", "/api/v1/admin/kb"];
const findRoute = (path: string) => (ROUTES.includes(path) ? path : null);

/** Rows in the order in which they were started. */
let rows: NewAuditEvent[];
let append: (event: NewAuditEvent) => Promise<void>;
let denials: DenialAudit;
const { log, lines } = collectLog();

beforeEach(() => {
  jest.useFakeTimers();
  rows = [];
  append = () => Promise.resolve();
  const audit = {
    append(event: NewAuditEvent) {
      rows.push(event);
      return append(event);
    },
  };
  denials = createDenialAudit({ store: { audit } as unknown as Store, log, findRoute });
});

afterEach(async () => {
  await denials.close();
  jest.useRealTimers();
});

let requests = 0;

/** Denies a request without a key from an address. */
function deny(
  ip: string,
  { path = "/api/v1/admin/keys", code = "missing_key" }: { path?: string; code?: ErrorCode } = {},
) {
  requests++;
  const request = { path, method: "GET", ip, socket: {} } as unknown as Request;
  const response = { getHeader: () => `request-${requests}` } as unknown as Response;
  denials.note(request, response, new ServiceError(code, "refused"));
}

const counts = () => rows.map(({ network, object, result, count }) => [network, object, result, count]);
const KEYS = "GET /api/v1/admin/keys";

describe("equal denials", () => {
  test("leave the first row at once, and one for the others of the minute", () => {
    for (let round = 0; round < 1_000; round++) deny("203.0.113.7");
    expect(rows).toEqual([
      {
        actor: "anonymous",
        action: "http.denied",
        object: KEYS,
        project: null,
        result: "missing_key",
        requestId: `request-${requests - 999}`,
        count: 1,
        network: "203.0.113.0/24",
      },
    ]);
    jest.advanceTimersByTime(60_000);
    expect(rows.slice(1)).toEqual([{ ...rows[0], requestId: null, count: 999 }]);
    jest.advanceTimersByTime(600_000);
    expect(rows).toHaveLength(2);
  });

  test("of the next minute leave rows of their own", () => {
    deny("203.0.113.7");
    jest.advanceTimersByTime(60_000);
    deny("203.0.113.7");
    deny("203.0.113.7");
    jest.advanceTimersByTime(60_000);
    expect(rows.map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  test("are those of one network, one code and one route", () => {
    for (const ip of ["203.0.113.7", "203.0.113.255", "198.51.100.1", "2001:db8::1", "2001:db8::ffff"]) deny(ip);
    deny("203.0.113.7", { code: "invalid_key" });
    deny("203.0.113.7", { path: "/api/v1/admin/kb" });
    deny("203.0.113.7", { path: "/api/v1/svc_misplaced" });
    expect(counts()).toEqual([
      ["203.0.113.0/24", KEYS, "missing_key", 1],
      ["198.51.100.0/24", KEYS, "missing_key", 1],
      ["2001:db8:0::/48", KEYS, "missing_key", 1],
      ["203.0.113.0/24", KEYS, "invalid_key", 1],
      ["203.0.113.0/24", "GET /api/v1/admin/kb", "missing_key", 1],
      ["203.0.113.0/24", null, "missing_key", 1],
    ]);
  });
});

test("many networks at once get few rows, and every denial is counted", async () => {
  for (let index = 0; index < 20_000; index++) {
    deny(`10.${index >> 8}.${index & 255}.1`, { path: index % 2 === 0 ? "/api/v1/admin/keys" : "/nowhere" });
  }
  await denials.close();
  expect(rows.length).toBeLessThanOrEqual(102);
  expect(rows.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(20_000);
});

test("what cannot be written is logged, and harms nobody", async () => {
  append = () => Promise.reject(new Error("service unavailable"));
  deny("203.0.113.7");
  await denials.close();
  expect(lines().filter(({ level }) => level === "warn")).toHaveLength(1);
});

test("the end waits for what is being written", async () => {
  let finish: () => void = () => undefined;
  append = () => new Promise((resolve) => (finish = resolve));
  deny("203.0.113.7");
  let isClosed = false;
  const closing = denials.close().then(() => (isClosed = true));
  await Promise.resolve();
  expect(isClosed).toBe(false);
  finish();
  await closing;
});
