import { readEnvironment } from "@svc/runtime";
import { apiUrlOf } from "./api-client.ts";
import type { ApiTarget } from "./api-client.ts";
import type { Cli } from "./cli.ts";
import { getKey } from "./find-key.ts";

/** Whom a command calls: the API of this machine, or at the address given, with the key of the environment. */
export async function makeApiTarget(cli: Cli, options: { url?: string; project?: string }): Promise<ApiTarget> {
  const config = readEnvironment(cli.env);
  const { url, project } = options;
  return {
    url: url ?? apiUrlOf(config),
    key: await getKey(cli, config),
    startWith: cli.startWith,
    ...(project === undefined ? {} : { project }),
  };
}
