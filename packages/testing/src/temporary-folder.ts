import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guard } from "./guard.ts";

/** A folder that goes with the process that made it. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A program that was killed together with us may write for another moment, so removing is tried more than once. */
const REMOVE = `for trial in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done`;

/**
 * Makes a folder for a test, named after what it is for. It is removed when this process ends without having done so;
 * `endFirst` is a shell line that runs before that, with the folder as $1.
 */
export async function makeTemporaryFolder(what: string, endFirst = ":"): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `svc-test-${what}-`));
  const callOffGuard = guard(`${endFirst}; ${REMOVE}`, [path]);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      callOffGuard();
    },
  };
}
