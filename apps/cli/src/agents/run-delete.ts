import { deleteAgent } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { findAgent } from "./find-agent.ts";

/** What `agents delete` is told. */
export interface DeleteOptions {
  project: string;
  yes?: true;
}

/** `svc agents delete`: deletes an agent, after a question. */
export async function runDelete(cli: Cli, name: string, { project, yes }: DeleteOptions): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const agent = await findAgent(store, principal, name);
    const isAgreed = yes === true || (await confirm(cli, `Delete the agent "${safeLine(agent.name, 80)}"?`, "--yes"));
    return isAgreed ? deleteAgent({ store }, principal, agent.id) : null;
  });
  cli.terminal.show({ ok: item !== null, project, item }, () =>
    item === null ? "Nothing was deleted." : `Deleted the agent "${safeLine(item.name, 80)}".`,
  );
}
