import { describe, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import { ADMIN_ENDPOINTS, ServiceError } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import { asProjectId, newId } from "@svc/store";
import * as exported from "./index.ts";

/** What is exported and is no operation of anybody: each with why it needs no scope. */
const NO_OPERATIONS: Record<string, string> = {
  DEMO_KB: "a name",
  FIRST_AGENT: "a name",
  SecretKeyMissingError: "an error",
  asModelPull: "works on what it is given",
  audited: "makes operations",
  createMappingCache: "keeps what it has made of what it is given",
  ensureLocalKey: "of whoever can write the data folder",
  ensureLocalSecretKey: "of whoever can write the data folder",
  generateWebhookSecret: "a random text",
  initialize: "the service itself, on its first start",
  isAudited: "looks at an error",
  localKeyFile: "a path",
  localSecretKeyFile: "a path",
  makeFirstLink: "of whoever works on the machine itself, as the command line does",
  mapBody: "works on what it is given",
  proposeFromEdit: "of the pipeline, on what an operator with a scope has decided",
  readLocalKey: "of whoever can read the data folder",
  readLocalSecretKey: "of whoever can read the data folder",
  readWebhookEvent: "of the service itself, when it sends an event to a webhook",
  requireScopeOf: "checks a scope",
  revokeLocalKeys: "of the machine itself, when it makes its own key anew",
  summarizeReplay: "works on what it is given",
  writePrivateFile: "of whoever can write the data folder",
};

type Operation = (deps: object, principal: Principal, ...args: unknown[]) => Promise<unknown>;

const operations = Object.entries(exported).flatMap(([name, value]): [string, Operation][] => {
  if (name in NO_OPERATIONS) return [];
  if (typeof value === "function") return [[name, value as unknown as Operation]];
  const actions = typeof value === "object" ? Object.entries(value) : [];
  return actions.map(([action, operation]) => [`${name}.${action}`, operation as unknown as Operation]);
});

/** Somebody who may do nothing at all. */
const nobody: Principal = {
  actor: "key:test",
  keyId: "test",
  rateLimit: null,
  scopes: [],
  project: asProjectId(newId()),
  projectName: "test",
};

/** Something that must not be looked at, but for these parts of it. */
function untouchable(what: string, parts: Record<string, unknown> = {}): object {
  const get = (_target: object, name: string | symbol): unknown => {
    if (typeof name === "string" && name in parts) return parts[name];
    throw new Error(`${what} was looked at (${String(name)}) before the scope was checked`);
  };
  return new Proxy({}, { get });
}

/** What operations work with: of the store only the audit trail can be written. */
const deps = {
  store: untouchable("the store", { audit: { append: () => Promise.resolve() } }),
  queues: untouchable("the queues"),
  log: untouchable("the log"),
  embeddings: untouchable("the embeddings"),
};

async function errorOf(operation: Operation, args: unknown[]): Promise<unknown> {
  try {
    await operation(deps, nobody, ...args);
  } catch (error) {
    return error;
  }
  return "nothing";
}

describe("without a scope", () => {
  test.each(operations)("%s looks at nothing and is refused", async (name, operation) => {
    const endpoints: Record<string, Endpoint> = ADMIN_ENDPOINTS;
    // Over HTTP the same scope is asked for as here.
    const needed = endpoints[name]?.scope ?? "";
    for (const input of [{}, newId()]) {
      const error = await errorOf(operation, [input, {}, {}, null]);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({ code: "insufficient_scope", message: expect.stringContaining(needed) });
    }
  });
});

test("whatever is listed as no operation is exported", () => {
  expect(Object.keys(NO_OPERATIONS).filter((name) => !(name in exported))).toEqual([]);
});
