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

/**
 * Maximum normal wait of a message or callback; a longer one means that the pipeline or the delivery of callbacks
 * does not run.
 */
const WAITING_TOO_LONG_MS = 30_000;

/** State of one part of the service. */
export interface Check {
  status: "pass" | "warn" | "fail";
  detail: string;
}

export type Checks = Record<string, Check>;

/** Limits the cost of frequent health requests to four checks a second. */
const CACHE_MS = 250;

/** Creates the function that checks the parts on which the health of this process depends. */
export function createHealthCheck(store: Store, queues: Queues): () => Promise<Checks> {
  const cache = createBriefCache<Checks>(CACHE_MS);
  return async () => (await cache.get("checks", () => checkHealth(store, queues))) ?? {};
}

async function checkHealth(store: Store, queues: Queues): Promise<Checks> {
  const storeError = await store.findProblem();
  if (storeError !== null) return { store: { status: "fail", detail: storeError } };
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

/** The models of a process, as far as health reads them. */
type CheckedModels = Pick<Resources["models"], "health">;

/**
 * Returns the state of the language model providers after the last calls of this process; health itself calls none. Empty
 * if none is configured; at worst `warn`, since agents also answer without a model.
 */
export function checkModels(models: CheckedModels | null): { models?: Check } {
  if (models === null) return {};
  const failing = models.health().flatMap(({ name, fault: error }) => (error === null ? [] : [`${name}: ${error}`]));
  return {
    models:
      failing.length === 0
        ? { status: "pass", detail: "language models respond, or have not been used yet" }
        : { status: "warn", detail: `agents quote documents instead of using a language model; ${failing.join("; ")}` },
  };
}

/**
 * Returns true if the request has an administrator's key. An invalid key is no error here, since health needs none, but
 * counts as a failed authentication; an address with too many of them no longer learns whether a key is valid.
 */
async function isFromAdministrator(
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
    await rateLimit.recordFailure(request, error);
    return false;
  }
}

/** While the channel is disabled, messages are rejected; everything else works. */
function checkChannel(manager: ChannelManager): Check {
  const api = manager.states().find(({ id }) => id === "api");
  return api?.state === "running"
    ? { status: "pass", detail: "accepting messages" }
    : {
        status: "warn",
        detail: "the HTTP API channel is disabled; an administrator can enable it: svc channels enable api",
      };
}

/** What the health endpoint reads. */
export interface HealthSources {
  check: () => Promise<Checks>;
  models: Resources["models"];
  manager: ChannelManager;
  authenticate: Authenticate;
  rateLimit: RateLimit;
}

/**
 * `GET /api/v1/health` (service document, section 4.1): no key needed. 503 if messages cannot be accepted. With an
 * administrator's key the response has the state of each part.
 */
export function getHealth({ check, models, manager, authenticate, rateLimit }: HealthSources): RequestHandler {
  return async (request, response) => {
    const configured = (await models.config()) === null ? null : models;
    const checks = { ...(await check()), ...checkModels(configured), channel: checkChannel(manager) };
    const all = Object.values(checks).map((part) => part.status);
    const status: Check["status"] = all.includes("fail") ? "fail" : all.includes("warn") ? "warn" : "pass";
    const channels = Object.fromEntries(
      manager.states().map((state) => [state.id, { ...state, since: state.since.toISOString() }]),
    );
    const isDetailed = status !== "fail" && (await isFromAdministrator(request, authenticate, rateLimit));
    response.status(status === "fail" ? 503 : 200);
    response.setHeader("Cache-Control", "no-store");
    if (status === "fail") response.setHeader("Retry-After", "2");
    const body: HealthAnswer = {
      ok: status !== "fail",
      status,
      version: VERSION,
      time: new Date().toISOString(),
      ...(isDetailed ? { checks: { ...checks, channels } } : {}),
    };
    response.json(body);
  };
}
