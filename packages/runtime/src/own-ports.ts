import type { Config } from "./load-config.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
};

/** The port that a connection URL means; none when it names no single one. */
function portsOf(url: string | undefined): number[] {
  if (url === undefined) return [];
  const { protocol, port } = new URL(url);
  const meant = port === "" ? DEFAULT_PORTS[protocol] : Number(port);
  return meant === undefined ? [] : [meant];
}

/**
 * Ports of this product, its Postgres and its Redis: requests on behalf of others never go there on an address that is
 * not public, whatever is allowed ("Address guard" in docs/api.md).
 */
export function ownPortsOf(config: Pick<Config, "databaseUrl" | "redisUrl" | "ports">): number[] {
  const { api, widget, tools, console, metrics } = config.ports;
  return [
    api,
    widget,
    tools,
    console,
    ...(metrics === undefined ? [] : [metrics]),
    ...portsOf(config.databaseUrl),
    ...portsOf(config.redisUrl),
  ];
}
