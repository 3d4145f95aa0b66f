import { readFileSync } from "node:fs";
import { errorCode } from "@svc/primitives";
import { Cluster, Redis } from "ioredis";
import type { RedisOptions } from "ioredis";

/** A host and port. */
interface RedisAddress {
  host: string;
  port: number;
}

/** Servers that a `REDIS_URL` names. */
export interface RedisServers {
  /** One server, the Sentinels of a primary with replicas, or nodes of a cluster. */
  kind: "single" | "sentinel" | "cluster";
  /** At least one. */
  addresses: RedisAddress[];
  /** Name of the primary and its replicas in Sentinel; empty without Sentinels. */
  group: string;
  db: number;
  username?: string;
  password?: string;
  sentinelPassword?: string;
  /** Present if connections use TLS: the CA certificates, if they are not those of Node.js. */
  tls?: { ca?: string };
}

/** Options of ioredis without the one that changes the types of replies. */
type Options = Omit<RedisOptions, "replyMapping">;

/** A connection to one server, to the primary that the Sentinels name, or to all nodes of a cluster. */
export type RedisClient = Redis | Cluster;

const FORMS =
  "a URL such as redis://host:6379, rediss://host:6380, redis+sentinel://host1,host2/group or redis+cluster://host1,host2";
const URL_PATTERN = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const PORTS = { single: 6379, cluster: 6379, sentinel: 26_379 };
const MAX_DB = 999_999;

const invalid = (): Error => new Error(FORMS);

function parseAddress(text: string, port: number): RedisAddress {
  if (text === "" || !URL.canParse(`redis://${text}`)) throw invalid();
  const url = new URL(`redis://${text}`);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port || port) };
}

function parseDb(text: string): number {
  if (text === "") return 0;
  const db = Number(text);
  if (!Number.isInteger(db) || db < 0 || db > MAX_DB) throw invalid();
  return db;
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`a URL whose \`cacert\` is a readable file (${errorCode(error) ?? "unknown error"})`, {
      cause: error,
    });
  }
}

/** Decodes a part of a URL; undefined if it is empty. */
function decode(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid();
  }
}

/**
 * Parses a `REDIS_URL`: `redis://` or, with TLS, `rediss://`; with `+sentinel` or `+cluster` and several hosts. The
 * query may name a file of certificates (`cacert`) and the password of the Sentinels (`sentinelPassword`). Throws an
 * error that describes the expected format and shows nothing of the URL.
 */
export function parseRedisUrl(url: string): RedisServers {
  const [found, isSecure, form, credentials = "", hosts = "", path = "", query = ""] = URL_PATTERN.exec(url) ?? [];
  if (found === undefined) throw invalid();
  const kind = form === "sentinel" || form === "cluster" ? form : "single";
  const addresses = hosts.split(",").map((host) => parseAddress(host, PORTS[kind]));
  const [group = "", db = ""] = kind === "sentinel" ? path.split("/") : ["", path];
  const hasGroup = kind !== "sentinel" || group !== "";
  if (!hasGroup || (kind === "single" && addresses.length > 1) || (kind === "cluster" && path !== "")) throw invalid();
  const [username, password] = credentials.split(/:(.*)/s).map(decode);
  const parameters = new URLSearchParams(query);
  const [ca, sentinelPassword] = [parameters.get("cacert"), parameters.get("sentinelPassword")];
  return {
    kind,
    addresses,
    group: decode(group) ?? "",
    db: parseDb(db),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...(isSecure === "s" && { tls: ca === null ? {} : { ca: readCertificates(ca) } }),
  };
}

/** A primary that has become a replica rejects writes; a new connection finds the current primary. */
const isDemoted = (error: Error): boolean => error.message.includes("READONLY");

/** Connects to the servers of a `REDIS_URL`: the only place that creates connections to Redis. */
export function connectRedis(
  servers: RedisServers,
  given: Options & { retryStrategy: (times: number) => number | null },
): RedisClient {
  const { kind, addresses, group, db, username, password, sentinelPassword, tls } = servers;
  const { retryStrategy, ...own } = given;
  const options: Options = {
    ...own,
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
    reconnectOnError: isDemoted,
  };
  if (kind === "cluster") {
    const { enableOfflineQueue = true, lazyConnect = false, ...redisOptions } = options;
    return new Cluster(addresses, {
      clusterRetryStrategy: retryStrategy,
      enableOfflineQueue,
      lazyConnect,
      redisOptions,
      // Verify the certificate of a node by its host name instead of its address.
      ...(tls !== undefined && { dnsLookup: (host, callback) => callback(null, host) }),
    });
  }
  if (kind === "single") return new Redis({ ...options, retryStrategy, ...addresses[0] });
  return new Redis({
    ...options,
    retryStrategy,
    sentinels: addresses,
    name: group,
    sentinelRetryStrategy: retryStrategy,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls !== undefined && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  });
}

/** Reads sections of INFO of each server that stores keys. Rejects as ioredis does. */
export async function readInfo(client: RedisClient, ...sections: string[]): Promise<string> {
  const nodes = client instanceof Cluster ? client.nodes("master") : [client];
  const texts = await Promise.all(nodes.flatMap((node) => sections.map((section) => node.info(section))));
  return texts.join("\n");
}

/** Connects once, and reads sections of INFO. Rejects with the error of the system, a Sentinel or Redis. */
export async function askRedis(redisUrl: string, timeoutMs: number, ...sections: string[]): Promise<string> {
  const client = connectRedis(parseRedisUrl(redisUrl), {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    commandTimeout: timeoutMs,
  });
  // ioredis rejects only with "Connection is closed"; the cause is in the error event.
  let reason: Error | undefined;
  client.on("error", (error: Error) => {
    reason ??= error;
  });
  try {
    await client.connect();
    return await readInfo(client, ...sections);
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}
