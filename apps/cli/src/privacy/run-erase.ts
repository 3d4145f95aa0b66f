import { erasePersonalData } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { describeSubject, subjectOf } from "./privacy-options.ts";
import type { SubjectOptions } from "./privacy-options.ts";

/** What `privacy erase` is told. */
export interface EraseOptions extends SubjectOptions {
  yes?: true;
}

/** `svc privacy erase`: erases all that a project holds of somebody, after a question. */
export async function runErase(cli: Cli, options: EraseOptions): Promise<void> {
  const subject = subjectOf(options);
  const { project, yes } = options;
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const question = `Permanently erase all data of ${describeSubject(options)} in the project "${safeLine(project, 80)}"?`;
    const isAgreed = yes === true || (await confirm(cli, question, "--yes"));
    return isAgreed ? erasePersonalData({ store }, principal, subject) : null;
  });
  cli.terminal.show({ ok: item !== null, project, item }, () => {
    if (item === null) return "Nothing was erased.";
    const erased = Object.entries(item.counts).filter(([, count]) => count > 0);
    if (erased.length === 0) return "There was no data.";
    return `Erased: ${erased.map(([kind, count]) => `${kind} ${count}`).join(", ")}.\nReceipt ${item.id} for ${item.subject}`;
  });
}
