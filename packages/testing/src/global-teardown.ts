import { closeSharedServers } from "./global-setup.ts";

/** Jest's global teardown: ends what the test files of this run shared. */
export default async function globalTeardown(): Promise<void> {
  await closeSharedServers();
}
