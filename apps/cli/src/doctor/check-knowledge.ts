import { localAdministrator } from "@svc/auth";
import type { KbItem } from "@svc/contracts";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { listAllKbs } from "../kb/find-kb.ts";
import { safeLine } from "../safe-text.ts";
import type { Check } from "./check.ts";

const NAME = "Knowledge";

/** As in "2 documents". */
const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** What to call to see the documents of a base that could not be read. */
function adviceFor({ self }: Cli, { name, project }: KbItem): string {
  return `Check the errors, fix the documents and add them again: ${self} kb list --kb ${safeLine(name, 80)} --project ${project}`;
}

/** Looks at the knowledge bases of all projects: how much there is, and whether documents could not be read. */
export async function checkKnowledge(cli: Cli, store: Store): Promise<Check> {
  const kbs: KbItem[] = [];
  for (const project of await store.projects.list())
    kbs.push(...(await listAllKbs(store, localAdministrator(project))));
  const sum = (of: (kb: KbItem) => number) => kbs.reduce((total, kb) => total + of(kb), 0);
  const failed = sum((kb) => kb.failed);
  const queued = sum((kb) => kb.queued);
  const detail = [
    count(kbs.length, "knowledge base"),
    count(
      sum((kb) => kb.chunks),
      "passage",
    ),
    ...(queued > 0 ? [`${count(queued, "document")} waiting`] : []),
    ...(failed > 0 ? [`${count(failed, "document")} could not be read`] : []),
  ].join(", ");
  const bad = kbs.find((kb) => kb.failed > 0);
  return bad === undefined
    ? { name: NAME, status: "ok", detail }
    : { name: NAME, status: "warn", detail, advice: adviceFor(cli, bad) };
}
