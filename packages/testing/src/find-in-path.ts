import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { errorCode } from "@svc/primitives";
import { childEnvironment } from "./test-settings.ts";

/** Returns the path of a program, or null if neither the PATH nor the `further` folders have it. */
export async function findInPath(name: string, further: readonly string[] = []): Promise<string | null> {
  for (const folder of [...(childEnvironment()["PATH"] ?? "").split(delimiter), ...further]) {
    const path = join(folder, name);
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

/** Returns the path of `redis-server`, or null if it is not in the PATH. */
export const findRedisServer = (): Promise<string | null> => findInPath("redis-server");
