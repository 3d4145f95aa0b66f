import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { errorCode } from "@svc/primitives";
import { childEnvironment, readTestSettings } from "./test-settings.ts";

/** The headless one first: the others also run the window's controls as a page, for each window. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/**
 * Returns the path of the Chromium for tests: the one in `SVC_CHROMIUM`, else the first in the PATH; null if there is
 * none. Synchronous, because a test file needs it to define its tests.
 */
export function findChromium(): string | null {
  const { chromium } = readTestSettings();
  if (chromium !== undefined) return chromium;
  const folders = (childEnvironment()["PATH"] ?? "").split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(canRun) ?? null;
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
