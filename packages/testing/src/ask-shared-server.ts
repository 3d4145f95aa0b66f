import { join } from "node:path";
import { repositoryPath } from "./repository-path.ts";
import type { SharedServers } from "./shared-servers.ts";
import { readTestSettings } from "./test-settings.ts";

/** Returns a server that all test files of this run share; the first call starts it. */
export async function askSharedServer<Name extends keyof SharedServers>(name: Name): Promise<SharedServers[Name]> {
  const { runUrl } = readTestSettings();
  if (runUrl === undefined) {
    throw new Error("This test needs jest's global setup of the repository; run jest from the repository's root.");
  }
  const response = await fetch(`${runUrl}/${name}`);
  if (!response.ok) throw new Error(`The ${name} of this test run did not start: ${await response.text()}`);
  return (await response.json()) as SharedServers[Name];
}

/**
 * Returns the program of an app: in a test run one bundled file, which starts in half the time, otherwise its build.
 */
export async function findProgram(app: string): Promise<string> {
  if (readTestSettings().runUrl === undefined) return repositoryPath(`apps/${app}/dist/main.js`);
  const { folder } = await askSharedServer("programs");
  return join(folder, `${app}.mjs`);
}
