import { isAdministrator } from "@svc/auth";
import type { Authenticate } from "@svc/auth";
import type { ChannelManager } from "@svc/channel-manager";
import type { RateLimit } from "@svc/http";
import { BACKEND_NAMES } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import { createBriefCache } from "@svc/store";
import type { Store } from "@svc/store";
import { ServiceError, VERSION } from "@svc/contracts";
import type { HealthAnswer } from "@svc/contracts";
import type { Request, RequestHandler } from "express";
import { checkModels } from "./check-models.ts";

/** A message that waits longer than this means that nobody works on the queue. */
const WAITING_TOO_LONG_MS = 30_000;

/** What one part of the service says of itself. */
export interface Check {
  status: "pass" | "warn" | "fail";
  detail: string;
}

export type Checks = Record<string, Check>;

/** A flood of health calls costs the store four looks a second. */
const CACHE_MS = 250;

/** Makes the function that says what the health of this process rests on. */
export function createHealthCheck(store: Store, queues: Queues): () => Promise<Checks> {
  const cache = createBriefCache<Checks>(CACHE_MS);
  return async () => (await cache.get("checks", () => checkHealth(store, queues))) ?? {};
}

async function checkHealth(store: Store, queues: Queues): Promise<Checks> {
  const fault = await store.findFault();
  if (fault !== null) return { store: { status: "fail", detail: fault } };
  const [waitingMs, dueMs] = await Promise.all([store.messages.oldestWaitingMs(), store.deliveries.oldestDueMs()]);
  return {
    store: { status: "pass", detail: "PostgreSQL responds" },
    queue: queues.isUp()
      ? { status: "pass", detail: `jobs run on ${BACKEND_NAMES[queues.backend]}` }
      : {
          status: "warn",
          detail: `${BACKEND_NAMES[queues.backend]} is unreachable; messages are accepted and processed later`,
        },
    pipeline:
      waitingMs < WAITING_TOO_LONG_MS
        ? { status: "pass", detail: "no message is overdue" }
        : {
            status: "warn",
            detail: `a message has been waiting for ${Math.round(waitingMs / 1000)} s; check that the pipeline is running`,
          },
    callbacks:
      dueMs < WAITING_TOO_LONG_MS
        ? { status: "pass", detail: "no callback is overdue" }
        : { status: "warn", detail: `a callback has been due for ${Math.round(dueMs / 1000)} s` },
  };
}

/**
 * True when the request carries an administrator's key. A wrong key is no fault here, since health needs none, but it
 * counts as a failed authentication; an address with too many of them is not told any more whether a key is right.
 */
async function isAskedByAdministrator(
  request: Request,
  authenticate: Authenticate,
  rateLimit: RateLimit,
): Promise<boolean> {
  const { authorization } = request.headers;
  const apiKey = request.headersDistinct["x-api-key"]?.[0];
  if (authorization === undefined && apiKey === undefined) return false;
  if (await rateLimit.hasUsedUpFailures(request)) return false;
  try {
    return isAdministrator(await authenticate({ authorization, apiKey, project: undefined }));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    await rateLimit.noteFailure(request, error);
    return false;
  }
}

/** Messages are not accepted while the channel is switched off, though everything else goes on. */
function checkChannel(manager: ChannelManager): Check {
  const api = manager.states().find(({ id }) => id === "api");
  return api?.state === "running"
    ? { status: "pass", detail: "accepting messages" }
    : {
        status: "warn",
        detail: "the HTTP API channel is disabled; an administrator can enable it: svc channels enable api",
      };
}

/**
 * `GET /api/v1/health` (service document, section 4.1): no key needed. 503 when messages cannot be accepted. With an
 * administrator's key the answer says what each part is doing.
 */
export function getHealth(
  check: () => Promise<Checks>,
  models: Resources["models"],
  manager: ChannelManager,
  authenticate: Authenticate,
  rateLimit: RateLimit,
): RequestHandler {
  return async (request, response) => {
    const checks = { ...(await check()), ...checkModels(models), channel: checkChannel(manager) };
    const all = Object.values(checks).map((check) => check.status);
    const status: Check["status"] = all.includes("fail") ? "fail" : all.includes("warn") ? "warn" : "pass";
    const channels = Object.fromEntries(
      manager.states().map((state) => [state.id, { ...state, since: state.since.toISOString() }]),
    );
    const isAsked = status !== "fail" && (await isAskedByAdministrator(request, authenticate, rateLimit));
    const details = isAsked ? { checks: { ...checks, channels } } : {};
    response.status(status === "fail" ? 503 : 200);
    response.setHeader("Cache-Control", "no-store");
    if (status === "fail") response.setHeader("Retry-After", "2");
    const body: HealthAnswer = {
      ok: status !== "fail",
      status,
      version: VERSION,
      time: new Date().toISOString(),
      ...details,
    };
    response.json(body);
  };
}
