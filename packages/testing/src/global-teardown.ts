import { closeSharedServers } from "./global-setup.ts";

/** Jest's global teardown: stops the shared servers. */
export default async function globalTeardown(): Promise<void> {
  await closeSharedServers();
}
