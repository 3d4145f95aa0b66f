import { access, constants } from "node:fs/promises";
import { delimiter, join, basename } from "node:path";
import { errorCode } from "@svc/primitives";
import { childEnvironment, readTestSettings } from "./test-settings.ts";
import { accessSync } from "node:fs";

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

/** The headless one first: the others also run the window's controls as a page, for each window. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The headless shell grants no permission to show notifications. */
const isShell = (path: string) => /headless[-_]shell/.test(basename(path));

/**
 * Returns the path of the Chromium for tests: the one in `SVC_CHROMIUM`, else the first in the PATH; null if there is
 * none. With `showsNotifications`, it is one that can show notifications. Synchronous, because a test file needs it to
 * define its tests.
 */
export function findChromium({ showsNotifications = false }: { showsNotifications?: boolean } = {}): string | null {
  const isSuitable = (path: string) => !(showsNotifications && isShell(path));
  const { chromium } = readTestSettings();
  if (chromium !== undefined && isSuitable(chromium)) return chromium;
  const folders = (childEnvironment()["PATH"] ?? "").split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => isSuitable(path) && canRun(path)) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    // Missing or not accessible: another folder may have it. Anything else is an error of this machine.
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "EACCES" && code !== "ENOTDIR") throw error;
    return false;
  }
}
