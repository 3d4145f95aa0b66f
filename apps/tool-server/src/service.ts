import { createAuthenticator } from "@svc/auth";
import { createChannelManager } from "@svc/channel-manager";
import { localUrl, ServiceError } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { authenticated, createKnownHosts, createRateLimit, crossOrigin, methodNotAllowed, serveHttp } from "@svc/http";
import type { Listening, RateLimit } from "@svc/http";
import { isAudited } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { Express, RequestHandler } from "express";
import type { Endpoint } from "./create-endpoint.ts";
import type { Tool } from "./tool.ts";

/** Host names of the server, and allowed websites. */
interface KnownAddresses {
  /** The address that the port is bound to. */
  bindHost: string;
  /** Public URLs of the product. */
  publicUrls: readonly string[];
  /** Origins of websites whose pages may call the server; `*` for all. */
  corsOrigins: readonly string[];
}

/**
 * Throws origin_not_allowed for requests with an unknown host name, and for those of web pages that are not allowed:
 * otherwise a page could make a browser call a server on its machine, by a name of its own (DNS rebinding) or from another
 * site.
 */
function checkAddresses({ bindHost, publicUrls, corsOrigins }: KnownAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isAllowedOrigin = (origin: string) =>
    corsOrigins.includes("*") || corsOrigins.includes(origin) || hosts.isOwnOrigin(origin);

  return (request, _response, next) => {
    if (!hosts.isKnown(request.headers.host)) {
      throw new ServiceError(
        "origin_not_allowed",
        "This server does not accept the host name in the request. Use its own address, or ask its administrator to add the host to SVC_PUBLIC_URLS.",
      );
    }
    const origins = request.headersDistinct["origin"] ?? [];
    if (!origins.every(isAllowedOrigin)) {
      throw new ServiceError(
        "origin_not_allowed",
        "Pages on this website are not allowed to call this server. Its administrator can allow the site with SVC_CORS_ORIGINS.",
      );
    }
    next();
  };
}

const PATH = "/mcp";

/** The tools of the product. */
export async function loadTools(): Promise<readonly Tool[]> {
  const { TOOLS } = await import("./tools.ts");
  return TOOLS;
}

/** Returns the endpoint of the protocol, whose code is loaded with the first request: it takes a while, and many never need it. */
function createLazyEndpoint(resources: Resources, rateLimit: RateLimit, load: () => Promise<readonly Tool[]>) {
  let opening: Promise<Endpoint> | undefined;
  let opened: Endpoint | undefined;

  async function openEndpoint(): Promise<Endpoint> {
    const { createEndpoint } = await import("./create-endpoint.ts");
    opened = createEndpoint(resources, { tools: await load(), rateLimit });
    return opened;
  }

  const answer: RequestHandler = async (request, response, next) => {
    opening ??= openEndpoint().catch((error: unknown) => {
      // The next request retries.
      opening = undefined;
      throw error;
    });
    const endpoint = await opening;
    return endpoint.answer(request, response, next);
  };

  return {
    answer,
    drain: () => opened?.drain(),
    async close() {
      // Callers of an endpoint that could not be opened have received its error.
      const endpoint = await opening?.catch(() => null);
      await endpoint?.close();
    },
    reset() {
      opening = undefined;
      opened = undefined;
    },
  };
}

async function startToolServer(resources: Resources, load: () => Promise<readonly Tool[]>): Promise<RunningService> {
  const { config, store, queues, log } = resources;
  // `bindHost` of the settings only applies to the HTTP API.
  const host = config.bindHost ?? "127.0.0.1";
  const rateLimit = createRateLimit(queues.counters);
  const lazy = createLazyEndpoint(resources, rateLimit, load);

  const addRoutes = (routes: Express) => {
    const { publicUrls, corsOrigins } = config;
    routes.use(PATH, checkAddresses({ bindHost: host, publicUrls, corsOrigins }));
    if (corsOrigins.length > 0) routes.use(PATH, crossOrigin(corsOrigins));
    routes.use(PATH, authenticated(createAuthenticator({ store, log }), rateLimit));
    routes.route(PATH).post(lazy.answer).all(methodNotAllowed("POST"));
    routes.use(() => {
      throw new ServiceError("not_found", `No resource exists at this path. The MCP endpoint is ${PATH}.`);
    });
  };
  const server = serveHttp({
    app: "tool-server",
    title: "tool server",
    store,
    log,
    config,
    findProblem: () => store.findProblem(),
    addRoutes,
    findRoute: (path) => (path === PATH ? PATH : null),
    // An operation that denies a call records it itself.
    isRecorded: isAudited,
  });

  let listening: Listening | null = null;

  async function open(): Promise<void> {
    if (listening !== null) return;
    listening = await server.listen({ host, port: config.ports.tools, setting: "SVC_TOOLS_PORT" });
  }

  async function close(): Promise<void> {
    lazy.drain();
    const closed = server.close();
    listening = null;
    await lazy.close();
    await closed;
    // Only now: until then the drained endpoint rejects requests.
    lazy.reset();
  }

  // A port that is in use fails a start; one that is lost later is an error shown under Integrations.
  if ((await store.channelsConfig.read()).enabled.includes("tool-server")) await open();
  const manager = createChannelManager(resources);
  manager.registerServer({ id: "tool-server", start: open, stop: close });
  const unfollow = await manager.follow();
  const drain = () => {
    server.drain();
    lazy.drain();
  };
  return {
    urls: listening === null ? {} : { "Tool server": `${localUrl(host, config.ports.tools)}${PATH}` },
    findProblem: server.findProblem,
    drain,
    async stop() {
      drain();
      await unfollow();
    },
  };
}

/**
 * The tool server: eight tools for MCP clients at `/mcp` (service document, section 4.7). A request passes the same
 * checks as one of the HTTP API (key, scope, project and rate limit) before it reaches the protocol. `load` returns
 * the tools. It can be disabled in the settings like a channel: the process then stays healthy, and its port is free.
 */
export function toolServerService(resources: Resources, load: () => Promise<readonly Tool[]> = loadTools): Service {
  return { name: "tool-server", start: () => startToolServer(resources, load) };
}
