import type { Principal } from "@svc/auth";
import type { Agent, AgentChange } from "@svc/contracts";
import { updateAgent } from "@svc/operations";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { listAllKbs } from "../kb/find-kb.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { kbIdsOf, readExamples, readModelSettings, settingsOf } from "./agent-options.ts";
import type { AgentOptions } from "./agent-options.ts";
import { findAgent } from "./find-agent.ts";
import { renderAgent } from "./render-agents.ts";

/** Further options of `agents update`. */
export interface ChangeOptions extends AgentOptions {
  name?: string;
  addKb?: string[];
  removeKb?: string[];
  addExample?: string[];
  enable?: true;
  disable?: true;
}

/** The knowledge bases that the agent is to have; undefined when the options name none. */
async function readKbIds(
  store: Store,
  principal: Principal,
  agent: Agent,
  { kb, addKb = [], removeKb = [] }: ChangeOptions,
): Promise<string[] | undefined> {
  if (kb === undefined && addKb.length === 0 && removeKb.length === 0) return undefined;
  const removed = new Set(await kbIdsOf(store, principal, removeKb));
  const kept = kb === undefined ? agent.kbIds : await kbIdsOf(store, principal, kb);
  return [...new Set([...kept, ...(await kbIdsOf(store, principal, addKb))])].filter((id) => !removed.has(id));
}

/** `svc agents change`: changes what the options name of an agent, and nothing else. */
export async function runChange(cli: Cli, name: string, options: ChangeOptions): Promise<void> {
  const { project, addExample = [], enable, disable } = options;
  const examples = await readExamples(cli, options);
  const modelSettings = await readModelSettings(cli, options);
  const { item, kbs } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const agent = await findAgent(store, principal, name);
    const kbIds = await readKbIds(store, principal, agent, options);
    const isTaught = examples !== undefined || addExample.length > 0;
    const change: AgentChange = {
      ...settingsOf(options),
      ...modelSettings,
      ...(options.name === undefined ? {} : { name: options.name }),
      ...(kbIds === undefined ? {} : { kbIds }),
      ...(isTaught ? { examples: [...new Set([...(examples ?? agent.examples), ...addExample])] } : {}),
      ...(enable === true ? { enabled: true } : {}),
      ...(disable === true ? { enabled: false } : {}),
    };
    if (Object.keys(change).length === 0) {
      throw new CliError(
        "usage",
        EXIT.usage,
        "Specify what to update, for example --add-kb. See: svc agents update --help",
      );
    }
    const changed = await updateAgent({ store }, principal, agent.id, change, [agent.version]);
    return { item: changed, kbs: await listAllKbs(store, principal) };
  });
  const kbNames = new Map(kbs.map((one) => [one.id, one.name]));
  cli.terminal.show({ ok: true, project, item }, () => renderAgent(item, kbNames));
}
