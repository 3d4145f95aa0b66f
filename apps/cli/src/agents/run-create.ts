import { createAgent } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { listAllKbs } from "../kb/find-kb.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { kbIdsOf, readExamples, readModelSettings, settingsOf } from "./agent-options.ts";
import type { AgentOptions } from "./agent-options.ts";
import { renderAgent } from "./render-agents.ts";

/** `svc agents create`: makes an agent. */
export async function runCreate(cli: Cli, name: string, options: AgentOptions): Promise<void> {
  const { project, kb = [] } = options;
  const examples = await readExamples(cli, options);
  const modelSettings = await readModelSettings(cli, options);
  const { item, kbs } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const kbIds = await kbIdsOf(store, principal, kb);
    const settings = { ...settingsOf(options), ...modelSettings };
    const input = { ...settings, name, kbIds, ...(examples === undefined ? {} : { examples }) };
    return { item: await createAgent({ store }, principal, input), kbs: await listAllKbs(store, principal) };
  });
  const kbNames = new Map(kbs.map((one) => [one.id, one.name]));
  cli.terminal.show({ ok: true, project, item }, () => renderAgent(item, kbNames));
  if (item.kbIds.length === 0 && item.fixedReply === null) {
    cli.terminal.note("It has no knowledge base yet. Add one with: agents update --add-kb");
  }
}
