import { issueKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { addDocument, ensureKb } from "@svc/knowledge";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { NewAgent, Project } from "@svc/store";
import { collectLog, createTestDatabase, createTestQueueBackend, freePort } from "@svc/testing";
import type { LogLine } from "@svc/testing";
import { loadTools, toolServerService } from "@svc/tool-server";
import type { Tool } from "@svc/tool-server";
import { ENVELOPE, INITIALIZE, parseEvents } from "./rpc.ts";
import type { RpcAnswer } from "./rpc.ts";

const SECRET_KEY = "0123456789abcdef0123456789abcdef";

/** Request to a tool server. */
export interface ToolRequest {
  key?: string;
  method?: string;
  headers?: Record<string, string>;
  /** Sent unchanged. */
  body?: string;
  signal?: AbortSignal;
}

/** A tool server on a separate database, without a pipeline. */
export interface TestTools {
  /** URLs of the replicas. */
  urls: string[];
  resources: Resources;
  log(): LogLine[];
  /** Creates a project with an agent that always replies with its text. */
  addProject(name: string, agent?: Partial<NewAgent>): Promise<Project>;
  /** Creates a knowledge base with one document. */
  addKb(project: Project, name: string, text: string): Promise<string>;
  /** Creates a key of a project; with null, an administrator's. */
  addKey(project: Project | null, scopes: Scope[], rateLimit?: number): Promise<string>;
  send: (request: ToolRequest, replica?: number) => Promise<Response>;
  /** Sends one request of a revision before 2026-07-28; returns the response with all notifications before it. */
  ask: (
    key: string,
    method: string,
    params?: object,
    options?: { id?: number; headers?: Record<string, string> },
  ) => Promise<RpcAnswer>;
  /** Does the same with the revision 2026-07-28; `meta` replaces the reserved fields. */
  askModern: (
    key: string,
    method: string,
    params?: object,
    options?: { id?: number; headers?: Record<string, string>; meta?: object },
  ) => Promise<RpcAnswer>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/** Opens it with this many replicas, all in this process. Close it in `afterAll`. */
export async function openTestTools({
  replicas = 1,
  env = {},
  further = [],
}: { replicas?: number; env?: Record<string, string>; further?: Tool[] } = {}): Promise<TestTools> {
  const database = await createTestDatabase();
  const backend = await createTestQueueBackend();
  const collected = collectLog();
  const { log } = collected;
  const opened: Resources[] = [];
  const stops: (() => Promise<void>)[] = [];
  const urls: string[] = [];
  for (let replica = 0; replica < replicas; replica++) {
    const config = loadConfig({
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: SECRET_KEY,
      SVC_QUEUE_PREFIX: backend.prefix,
      SVC_TOOLS_PORT: String(await freePort()),
      ...(backend.redisUrl === undefined ? {} : { REDIS_URL: backend.redisUrl }),
      ...env,
    });
    const resources = await openResources(config, { app: "test", log });
    opened.push(resources);
    const running = await toolServerService(resources, async () => [...(await loadTools()), ...further]).start();
    stops.push(() => running.stop());
    urls.push(`http://127.0.0.1:${config.ports.tools}/mcp`);
  }
  const [resources] = opened;
  if (resources === undefined) throw new Error("a tool server needs a replica");
  const { store } = resources;

  let closing: Promise<void> | undefined;
  async function closeAll(): Promise<void> {
    await Promise.all(stops.map((stop) => stop()));
    await Promise.all(opened.map(closeResources));
    await backend.stop();
    await database.drop();
  }

  const send: TestTools["send"] = ({ key, method = "POST", headers = {}, body, signal }, replica = 0) =>
    fetch(urls[replica] ?? "", {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });

  /** Sends one message and reads the response. Throws if there is none. */
  async function exchange(
    key: string,
    headers: Record<string, string>,
    message: { method: string } & Record<string, unknown>,
  ): Promise<RpcAnswer> {
    const response = await send({ key, headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    const messages = parseEvents(await response.text());
    const last = messages.at(-1);
    if (last === undefined) throw new Error(`${message.method} was answered ${response.status} without a message`);
    return { status: response.status, headers: response.headers, messages, last };
  }

  return {
    urls,
    resources,
    log: () => collected.lines(),
    send,
    async addProject(name, agent = {}) {
      const { project } = await store.projects.ensure(name);
      await store.agents.insert(project.id, { name: `${name}-agent`, fixedReply: `${name} answers`, ...agent });
      return project;
    },
    async addKb(project, name, text) {
      const { kb } = await ensureKb({ store }, project.id, name);
      await addDocument({ store, log }, project.id, kb.id, { key: name, title: name, text, mime: "text/markdown" });
      return kb.id;
    },
    async addKey(project, scopes, rateLimit) {
      const owner = { name: "test", project: project?.id ?? null, createdBy: "test" };
      const { key } = await issueKey(store, { ...owner, scopes, rateLimit: rateLimit ?? null });
      return key;
    },
    ask(key, method, params = {}, { id = 1, headers = {} } = {}) {
      const message = { id, method, params: method === "initialize" ? INITIALIZE : params };
      return exchange(key, { "MCP-Protocol-Version": "2025-11-25", ...headers }, message);
    },
    askModern(key, method, params = {}, { id = 1, headers = {}, meta = ENVELOPE } = {}) {
      const name = "name" in params && typeof params.name === "string" ? { "Mcp-Name": params.name } : {};
      const sentHeaders = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...name, ...headers };
      return exchange(key, sentHeaders, { id, method, params: { ...params, _meta: meta } });
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
