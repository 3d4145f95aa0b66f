import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guard } from "./child-process.ts";

/** A folder that is removed with its process. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A program that was killed together with this one may write for another moment, so removing is retried. */
const REMOVE = `for trial in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done`;

/**
 * Creates a temporary folder, named after its purpose. It is removed when this process ends; `endFirst` is a shell line
 * that runs before that, with the folder as $1.
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
