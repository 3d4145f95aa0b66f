import type { DocumentItem } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { getKb, listAllDocuments } from "./find-kb.ts";
import { documentKeyOf, isWebAddress, pageKeyOf } from "./find-sources.ts";
import { removeDocuments } from "./remove-documents.ts";

/** Options of `kb remove`. */
export interface RemoveOptions {
  kb: string;
  project: string;
  all?: true;
  yes?: true;
}

/** The document that a word means: by its id, its key as it stands, or the file or page that it was added from. */
function findDocument(documents: readonly DocumentItem[], folder: string, word: string): DocumentItem | undefined {
  const key = isWebAddress(word) ? pageKeyOf(word) : documentKeyOf(folder, word);
  return (
    documents.find(({ id }) => id === word.toLowerCase()) ??
    documents.find((document) => document.key === word) ??
    documents.find((document) => document.key === key)
  );
}

/** `svc kb remove`: takes documents out of a knowledge base. */
export async function runRemove(cli: Cli, words: readonly string[], options: RemoveOptions): Promise<void> {
  const { kb, project, all = false, yes = false } = options;
  if (all === words.length > 0) {
    throw new CliError("usage", EXIT.usage, "Specify documents, or all of them with --all. See: svc kb remove --help");
  }
  const { removed, missing, isAgreed } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const { id: kbId } = await getKb(store, principal, kb);
    const documents = await listAllDocuments(store, principal, kbId);
    const what = documents.length === 1 ? "the only document" : `all ${documents.length} documents`;
    const question = `Remove ${what} of "${safeLine(kb, 80)}"?`;
    if (all && !yes && documents.length > 0 && !(await confirm(cli, question, "--yes"))) {
      return { removed: [], missing: [], isAgreed: false };
    }
    const wanted = words.map((word) => ({ word, document: findDocument(documents, cli.folder, word) }));
    const chosen = all ? documents : wanted.flatMap(({ document }) => document ?? []);
    return {
      removed: await removeDocuments(store, principal, new Set(chosen)),
      missing: wanted.flatMap(({ word, document }) => (document === undefined ? [word] : [])),
      isAgreed: true,
    };
  });
  if (missing.length > 0) cli.setExitCode(EXIT.failed);
  cli.terminal.show({ ok: missing.length === 0 && isAgreed, project, kb, removed, missing }, () => {
    if (!isAgreed) return "Nothing was removed.";
    const lines = missing.map(
      (word) => `No document "${safeLine(word, 200)}" in this knowledge base; kb list shows them.`,
    );
    return [...lines, `Removed ${removed.length} ${removed.length === 1 ? "document" : "documents"}.`].join("\n");
  });
}
