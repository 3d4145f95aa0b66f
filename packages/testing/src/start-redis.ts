import { spawnChild, freePort, makeTemporaryFolder } from "./child-process.ts";
import { childEnvironment } from "./test-settings.ts";

/** A private Redis. By default nothing is on disk, so that a restart loses all data. */
export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  /** Changes after a restart. */
  readonly pid: number;
  /** Stops it (SIGKILL by default) and resolves when it has exited. */
  kill(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<void>;
  /** Restarts it, empty, on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a `redis-server` from the PATH on 127.0.0.1 that never evicts a key; `settings` are Redis' own. Rejects if
 * there is none.
 */
export async function startRedis(
  options: { port?: number; settings?: Record<string, string> } = {},
): Promise<PrivateRedis> {
  const port = options.port ?? (await freePort());
  const folder = await makeTemporaryFolder("redis");
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: folder.path,
    save: "",
    appendonly: "no",
    "maxmemory-policy": "noeviction",
    ...options.settings,
  };
  const launch = async () => {
    const server = await spawnChild({
      name: "redis-server",
      command: "redis-server",
      args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      env: childEnvironment(),
    });
    await server.ready(/ready to accept connections/i);
    return server;
  };

  let server = await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    async kill(signal = "SIGKILL") {
      await server.kill(signal);
    },
    async start() {
      if (server.isRunning()) throw new Error("This Redis runs; kill it before you start it again.");
      server = await launch();
    },
    async stop() {
      await server.kill("SIGTERM");
      await folder.remove();
    },
  };
}
