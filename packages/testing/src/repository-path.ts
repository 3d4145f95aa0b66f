import { fileURLToPath } from "node:url";

/** Returns the absolute path of a file in this repository; `dist` and `src` of this package have the same depth. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
