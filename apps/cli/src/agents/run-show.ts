import type { Cli } from "../cli.ts";
import { listAllKbs } from "../kb/find-kb.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findAgent } from "./find-agent.ts";
import { renderAgent } from "./render-agents.ts";

/** `svc agents show`: one agent. */
export async function runShow(cli: Cli, name: string, { project }: { project: string }): Promise<void> {
  const { item, kbs } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    return { item: await findAgent(store, principal, name), kbs: await listAllKbs(store, principal) };
  });
  const kbNames = new Map(kbs.map((kb) => [kb.id, kb.name]));
  cli.terminal.show({ ok: true, project, item }, () => renderAgent(item, kbNames));
}
