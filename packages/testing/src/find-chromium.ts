import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { errorCode } from "@svc/primitives";
import { childEnvironment, readTestSettings } from "./test-settings.ts";

/** The headless one first: the others also run a window's controls as a page of their own, for each window. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/**
 * The path of the Chromium to test with: the one that `SVC_CHROMIUM` names, else the first in the PATH; null when there
 * is none. Answers at once, since a test file has to know it before its tests are listed.
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
