import { localUrl } from "@svc/contracts";
import { readEnvironment } from "@svc/runtime";
import type { EarlyConfig } from "@svc/runtime";
import { apiUrlOf } from "./api-client.ts";
import type { ApiTarget } from "./api-client.ts";
import type { Cli } from "./cli.ts";
import { getKey } from "./find-key.ts";

interface TargetOptions {
  url?: string;
  project?: string;
}

async function makeTarget(
  cli: Cli,
  { url, project }: TargetOptions,
  urlOf: (config: EarlyConfig) => string,
): Promise<ApiTarget> {
  const config = readEnvironment(cli.env);
  return {
    url: url ?? urlOf(config),
    key: await getKey(cli, config),
    startWith: cli.startWith,
    ...(project === undefined ? {} : { project }),
  };
}

/** Whom a command calls: the API of this machine, or at the address given, with the key of the environment. */
export function makeApiTarget(cli: Cli, options: TargetOptions): Promise<ApiTarget> {
  return makeTarget(cli, options, apiUrlOf);
}

/** The same of the tool server. */
export function makeToolsTarget(cli: Cli, options: TargetOptions): Promise<ApiTarget> {
  return makeTarget(cli, options, ({ bindHost, ports }) => localUrl(bindHost ?? "127.0.0.1", ports.tools));
}
