import { fileURLToPath } from "node:url";

/** Absolute path of something in this repository; `dist` and `src` of this package lie equally deep. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
