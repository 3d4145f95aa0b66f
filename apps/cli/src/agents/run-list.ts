import type { Cli } from "../cli.ts";
import { listAllKbs } from "../kb/find-kb.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { listAllAgents } from "./find-agent.ts";
import { renderAgents } from "./render-agents.ts";

/** `svc agents list`: the agents of a project. */
export async function runList(cli: Cli, { project }: { project: string }): Promise<void> {
  const { items, kbs } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    return { items: await listAllAgents(store, principal), kbs: await listAllKbs(store, principal) };
  });
  const kbNames = new Map(kbs.map(({ id, name }) => [id, name]));
  cli.terminal.show({ ok: true, project, items }, () =>
    items.length === 0
      ? `There are no agents. Create one with: ${cli.self} agents create NAME --kb KNOWLEDGE-BASE`
      : renderAgents(items, kbNames, cli.terminal),
  );
}
