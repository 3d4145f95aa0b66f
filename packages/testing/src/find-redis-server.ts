import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { errorCode } from "@svc/primitives";
import { childEnvironment } from "./test-settings.ts";

/** The path of `redis-server`, or null when the PATH has none. */
export async function findRedisServer(): Promise<string | null> {
  for (const folder of (childEnvironment()["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, "redis-server");
    try {
      await access(path, constants.X_OK);
      return path;
    } catch (error) {
      // Missing or not accessible: the next folder may have it. Anything else is an error of this machine.
      const code = errorCode(error);
      if (code !== "ENOENT" && code !== "EACCES" && code !== "ENOTDIR") throw error;
    }
  }
  return null;
}
