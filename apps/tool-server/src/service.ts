import { createAuthenticator } from "@svc/auth";
import { createChannelManager } from "@svc/channel-manager";
import { localUrl, ServiceError } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { authenticated, createKnownHosts, createRateLimit, crossOrigin, methodNotAllowed, serveHttp } from "@svc/http";
import type { Listening } from "@svc/http";
import { isAudited } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { Express, RequestHandler } from "express";
import type { Endpoint } from "./create-endpoint.ts";
import type { Tool } from "./tool.ts";

/** Host names by which the server may be called, and allowed web sites. */
interface KnownAddresses {
  /** The address that the port is bound to. */
  bindHost: string;
  /** Where the product is reached from outside. */
  publicUrls: readonly string[];
  /** Web sites whose pages may call, as origins; `*` for all. */
  corsOrigins: readonly string[];
}

/**
 * Lets only requests on that name a host by which this server is known, and, where a web page makes them, come from an
 * allowed site: else a page could make a browser call a server on its machine, by its own name (DNS rebinding) or from
 * afar. Throws origin_not_allowed.
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

/**
 * The tool server: eight tools for MCP clients at `/mcp` (service document, section 4.7). A request passes the same checks
 * as one of the HTTP API, of key, scope, project and rate, before it reaches the protocol. What speaks the protocol is
 * loaded with the first request: that takes a while, and many never need it. `load` is what tools there are. It can be
 * switched off in the settings as channels can: the process stays healthy then, and its port is free.
 */
export function toolServerService(resources: Resources, load: () => Promise<readonly Tool[]> = loadTools): Service {
  const { config, store, queues, log } = resources;

  async function start(): Promise<RunningService> {
    // `bindHost` of the settings is about the HTTP API alone.
    const host = config.bindHost ?? "127.0.0.1";
    const rateLimit = createRateLimit(queues.counters);
    let opening: Promise<Endpoint> | undefined;
    let opened: Endpoint | undefined;

    async function openEndpoint(): Promise<Endpoint> {
      const [{ createEndpoint }, tools] = await Promise.all([import("./create-endpoint.ts"), load()]);
      opened = createEndpoint(resources, { tools, rateLimit });
      return opened;
    }
    function endpointOf(): Promise<Endpoint> {
      opening ??= openEndpoint().catch((error: unknown) => {
        // The next request tries again.
        opening = undefined;
        throw error;
      });
      return opening;
    }
    const answer: RequestHandler = (request, response, next) =>
      endpointOf().then((endpoint) => endpoint.answer(request, response, next));

    const addRoutes = (routes: Express) => {
      const { publicUrls, corsOrigins } = config;
      routes.use(PATH, checkAddresses({ bindHost: host, publicUrls, corsOrigins }));
      if (corsOrigins.length > 0) routes.use(PATH, crossOrigin(corsOrigins));
      routes.use(PATH, authenticated(createAuthenticator({ store, log }), rateLimit));
      routes.route(PATH).post(answer).all(methodNotAllowed("POST"));
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
      findFault: () => store.findFault(),
      addRoutes,
      findRoute: (path) => (path === PATH ? PATH : null),
      // An operation that denies a call leaves its own row.
      isRecorded: isAudited,
    });

    let listening: Listening | null = null;

    async function open(): Promise<void> {
      if (listening !== null) return;
      listening = await server.listen({ host, port: config.ports.tools, setting: "SVC_TOOLS_PORT" });
    }

    async function close(): Promise<void> {
      opened?.drain();
      const closed = server.close();
      listening = null;
      // Callers of an endpoint that could not be opened have received its error.
      const endpoint = await opening?.catch(() => null);
      await endpoint?.close();
      await closed;
      // Not before: a request that comes whole meanwhile is refused by the endpoint that is drained.
      opening = undefined;
      opened = undefined;
    }

    // A port that cannot be bound ends a start; one that is lost later is a state that Integrations shows.
    if ((await store.channelsConfig.read()).enabled.includes("tool-server")) await open();
    const manager = createChannelManager(resources);
    manager.registerServer({ id: "tool-server", start: open, stop: close });
    const unfollow = await manager.follow();
    const drain = () => {
      server.drain();
      opened?.drain();
    };
    return {
      urls: listening === null ? {} : { "Tool server": `${localUrl(host, config.ports.tools)}${PATH}` },
      findFault: server.findFault,
      drain,
      async stop() {
        drain();
        await unfollow();
      },
    };
  }

  return { name: "tool-server", start };
}
