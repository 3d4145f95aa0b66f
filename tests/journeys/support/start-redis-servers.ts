import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, makeTemporaryFolder, spawnChild, startRedis, waitFor } from "@svc/testing";
import type { PrivateRedis } from "@svc/testing";

const run = promisify(execFile);

/** Redis servers of a test, with their `REDIS_URL`. */
export interface RedisServers {
  readonly url: string;
  /** Kills the primary, and resolves when a replica was promoted. Only with Sentinels. */
  failOver?(): Promise<void>;
  stop(): Promise<void>;
}

const cli = async (port: number, ...args: string[]) =>
  (await run("redis-cli", ["-h", "127.0.0.1", "-p", String(port), ...args])).stdout;

const GROUP = "svc-primary";

async function startSentinel(primaryPort: number) {
  const port = await freePort();
  const folder = await makeTemporaryFolder("sentinel");
  const file = join(folder.path, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder.path}`,
    `sentinel monitor ${GROUP} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${GROUP} 1000`,
    `sentinel failover-timeout ${GROUP} 4000`,
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const child = await spawnChild({
    name: "a Redis Sentinel",
    command: "redis-server",
    args: [file, "--sentinel"],
    env: { PATH: process.env["PATH"] },
  });
  await child.ready(/\+monitor/);
  const stop = async () => {
    await child.kill("SIGTERM");
    await folder.remove();
  };
  return { port, stop };
}

/** Starts a primary with a replica, and three Sentinels that monitor them. */
export async function startSentinels(): Promise<RedisServers> {
  const [primary, replica] = [await startRedis(), await startRedis()];
  await cli(replica.port, "replicaof", "127.0.0.1", String(primary.port));
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(primary.port)));
  const isReady = async ({ port }: { port: number }) => {
    const state = await cli(port, "sentinel", "master", GROUP);
    return /num-slaves\n1\n/.test(state) && /num-other-sentinels\n2\n/.test(state);
  };
  for (const one of sentinels) await waitFor(() => isReady(one), { what: "each Sentinel to know the others" });
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${GROUP}`,
    async failOver() {
      await primary.kill("SIGKILL");
      await waitFor(async () => (await cli(replica.port, "role")).startsWith("master"), { what: "the failover" });
    },
    async stop() {
      for (const one of [...sentinels, replica, primary]) await one.stop();
    },
  };
}

/** Starts a cluster of three nodes. */
export async function startCluster(): Promise<RedisServers> {
  const nodes: PrivateRedis[] = [];
  for (let node = 0; node < 3; node++) {
    const busPort = String(await freePort());
    nodes.push(await startRedis({ settings: { "cluster-enabled": "yes", "cluster-port": busPort } }));
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await run("redis-cli", ["--cluster", "create", ...addresses, "--cluster-yes"]);
  for (const { port } of nodes) {
    const isOk = async () => (await cli(port, "cluster", "info")).includes("cluster_state:ok");
    await waitFor(isOk, { what: "the cluster to be complete" });
  }
  return {
    url: `redis+cluster://${addresses.slice(0, 2).join(",")}`,
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}

const KEY_PARAMETERS = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

/** Starts a server that accepts only TLS, with a self-signed certificate. */
export async function startTlsRedis(): Promise<RedisServers> {
  const folder = await makeTemporaryFolder("redis-tls");
  const [key, certificate] = [join(folder.path, "key.pem"), join(folder.path, "certificate.pem")];
  const subject = ["-subj", "/CN=svc-test", "-addext", "subjectAltName=IP:127.0.0.1"];
  await run("openssl", ["req", "-x509", ...KEY_PARAMETERS, ...subject, "-keyout", key, "-out", certificate]);
  const tls = {
    "tls-cert-file": certificate,
    "tls-key-file": key,
    "tls-ca-cert-file": certificate,
    "tls-auth-clients": "no",
  };
  const port = await freePort();
  const server = await startRedis({ port, settings: { port: "0", "tls-port": String(port), ...tls } });
  return {
    url: `rediss://127.0.0.1:${port}?cacert=${encodeURIComponent(certificate)}`,
    async stop() {
      await server.stop();
      await folder.remove();
    },
  };
}
