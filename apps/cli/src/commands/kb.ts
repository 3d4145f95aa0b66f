import { InvalidArgumentError } from "commander";
import { KB_LIMITS } from "@svc/contracts";
import type { DocumentItem } from "@svc/contracts";
import { asAdministrator, getKb, listAllDocuments, listAllKbs, readAll } from "../as-administrator.ts";
import { EXIT, usageError } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import { documentKeyOf, isWebAddress, pageKeyOf } from "../kb/find-sources.ts";
import { renderDocuments, renderHits, renderKbs } from "../kb/render-kb.ts";
import { flag, isHttpUrl, mandatory, option, projectOption, wholeNumber, withDefault } from "../options.ts";
import { confirm } from "../read-input.ts";
import { safeLine, safeText } from "../terminal.ts";

/**
 * Separate from the knowledge base with the product's own documentation, which the customers of a shop should not
 * read.
 */
const DEFAULT_KB = "documents";

const targetOption = withDefault(
  option("--kb <name>", "knowledge base; created if it does not exist"),
  DEFAULT_KB,
  JSON.stringify(DEFAULT_KB),
);

const maxPagesOption = withDefault(
  option(
    "--max-pages <number>",
    `maximum number of pages of a site, at most ${KB_LIMITS.pagesMaxCount}`,
    wholeNumber(1, KB_LIMITS.pagesMaxCount),
  ),
  KB_LIMITS.pagesDefaultCount,
);

function parseSitemap(text: string, before: string[] = []): string[] {
  if (isHttpUrl(text)) return [...before, text];
  throw new InvalidArgumentError("Must be a URL such as https://example.com/sitemap.xml.");
}

const add = defineCommand({
  description: "add files, folders, web pages or whole sites to a knowledge base",
  args: { "[source...]": "files, folders (recursively), and page URLs" },
  options: {
    kb: targetOption,
    sitemap: withDefault(
      option("--sitemap <url>", "URL of a sitemap or of a site (repeatable)", parseSitemap),
      [],
      "none",
    ),
    maxPages: maxPagesOption,
    force: flag("--force", "read unchanged files again, for example after an upgrade"),
    project: projectOption,
  },
  about: `Reads Markdown, text, HTML, PDF, Word (.docx), Excel (.xlsx) and CSV, at most 50 MB per file. In folders, hidden files,
node_modules, links that lead out of the folder and other file types are skipped. A file is identified by its path from
the current folder, a page by its URL: adding it again replaces it, and unchanged documents are skipped. Documents are
searchable immediately, without a restart. Documents that cannot be read are listed with the reason, the others are
added, and the exit code is 1. After Ctrl-C, the same command resumes. With --force, files are read again although they
are unchanged, and documents are replaced if their text differs.
A new knowledge base is assigned to the first agent while that agent only has the product's own guide, which it replaces;
otherwise, the command shows how to assign it (agents update).
Pages are fetched from public addresses and from those in SVC_FETCH_ALLOW, at most two per second from one site. Of a
site, only pages that its robots.txt allows for svc-fetch are added. Without a sitemap, links are followed from the URL,
to pages in its folder and below.`,
  examples: [
    "kb add handbook.md prices.xlsx",
    "kb add docs https://example.com/help.html --kb handbook",
    "kb add --sitemap https://docs.example.com --kb docs",
    "kb add docs --kb handbook --project shop --json",
  ],
  async run(cli, input) {
    if (input.source.length === 0 && input.sitemap.length === 0) {
      throw usageError("Specify what to add: files, folders, URLs or --sitemap. See: svc kb add --help");
    }
    const { addSources } = await import("../kb/add-sources.ts");
    await addSources(cli, input);
  },
});

const sync = defineCommand({
  description: "synchronize a knowledge base with a folder or a site: add, replace and remove",
  args: { "<source>": "a folder, or the URL of a sitemap or site" },
  options: {
    kb: targetOption,
    dryRun: flag("--dry-run", "show what would be added and removed, without changing anything"),
    yes: flag("--yes", "skip the confirmation before more than half of the source's documents are removed"),
    maxPages: maxPagesOption,
    project: projectOption,
  },
  about: `Works like kb add, and also removes documents that no longer exist in the source: those whose path starts with the
folder (run the command from the same folder each time), or pages at or below the folder of the URL. Other documents are not
touched, and neither are documents whose file still exists but was skipped, or whose page robots.txt forbids. If the
source is empty, unreachable or only partially readable, nothing is removed, and the exit code is 1. Before removing more
than half of a source's documents, and more than 10, it asks for confirmation or requires --yes.`,
  examples: [
    "kb sync docs --kb handbook --dry-run",
    "kb sync docs --kb handbook",
    "kb sync https://docs.example.com --kb docs",
  ],
  async run(cli, { source, ...options }) {
    const { syncSource } = await import("../kb/sync-source.ts");
    await syncSource(cli, source, options);
  },
});

const list = defineCommand({
  description: "list the knowledge bases of a project, or the documents of one",
  options: { kb: option("--kb <name>", "knowledge base whose documents are listed"), project: projectOption },
  examples: ["kb list", "kb list --kb documents --json"],
  async run(cli, { kb, project }) {
    const { terminal } = cli;
    await asAdministrator(cli, project, async (operations) => {
      if (kb === undefined) {
        const items = await listAllKbs(operations);
        terminal.show({ ok: true, project, items }, () =>
          items.length === 0 ? "There are no knowledge bases." : renderKbs(items, terminal),
        );
        return;
      }
      const { id } = await getKb(operations, kb);
      const items = await listAllDocuments(operations, id);
      terminal.show({ ok: true, project, kb, items }, () =>
        items.length === 0 ? "There are no documents in this knowledge base." : renderDocuments(items, terminal),
      );
    });
  },
});

const search = defineCommand({
  description: "search for passages, as agents do",
  args: { "<query>": "a question or keywords" },
  options: {
    kb: option("--kb <name>", "knowledge base to search (default: all of the project)"),
    limit: withDefault(
      option(
        "--limit <number>",
        `maximum number of passages, at most ${KB_LIMITS.hitsMaxCount}`,
        wholeNumber(1, KB_LIMITS.hitsMaxCount),
      ),
      KB_LIMITS.hitsDefaultCount,
    ),
    project: projectOption,
  },
  about: "The exit code is 0 even if nothing matches.",
  examples: ['kb search "How long is the guarantee?"', "kb search guarantee --kb handbook --limit 10 --json"],
  async run(cli, { query, kb, limit, project }) {
    const hits = await asAdministrator(cli, project, async (operations, { principal, resources }) => {
      const { searchKnowledge } = await import("@svc/knowledge");
      const kbs = kb === undefined ? await listAllKbs(operations) : [await getKb(operations, kb)];
      const names = new Map(kbs.map(({ id, name }) => [id, name]));
      const input = { query, kbIds: [...names.keys()], limit };
      const found = await searchKnowledge(resources, principal.project, input);
      return found.hits.map(({ kbId, ...hit }) => ({ kb: names.get(kbId) ?? "", ...hit }));
    });
    cli.terminal.show({ ok: true, project, query, hits }, () => renderHits(hits, cli.terminal));
  },
});

/** Returns the document named by its ID, its key, or the file or page that it was added from. */
function findDocument(documents: readonly DocumentItem[], folder: string, word: string): DocumentItem | undefined {
  const key = isWebAddress(word) ? pageKeyOf(word) : documentKeyOf(folder, word);
  return (
    documents.find(({ id }) => id === word.toLowerCase()) ??
    documents.find((document) => document.key === word) ??
    documents.find((document) => document.key === key)
  );
}

const remove = defineCommand({
  description: "remove documents from a knowledge base",
  args: { "[document...]": "paths or URLs as they were added, or IDs; kb list shows both" },
  options: {
    kb: mandatory(option("--kb <name>", "the knowledge base")),
    all: flag("--all", "all documents of the knowledge base"),
    yes: flag("--yes", "with --all: skip the confirmation"),
    project: projectOption,
  },
  about: `Removed documents disappear from search results immediately. The files themselves are not deleted. The exit code is 1 if
a document does not exist; the others are removed.`,
  examples: [
    "kb remove handbook.md https://example.com/help.html --kb documents",
    "kb remove --all --kb handbook --yes",
  ],
  async run(cli, { document: words, kb, all = false, yes, project }) {
    if (all === words.length > 0) {
      throw usageError("Specify documents, or all of them with --all. See: svc kb remove --help");
    }
    const { removed, missing, isAgreed } = await asAdministrator(cli, project, async (operations) => {
      const { id: kbId } = await getKb(operations, kb);
      const documents = await listAllDocuments(operations, kbId);
      const what = documents.length === 1 ? "the only document" : `all ${documents.length} documents`;
      const question = `Remove ${what} of "${safeLine(kb, 80)}"?`;
      if (all && yes !== true && documents.length > 0 && !(await confirm(cli, question, "--yes"))) {
        return { removed: [], missing: [], isAgreed: false };
      }
      const wanted = words.map((word) => ({ word, document: findDocument(documents, cli.folder, word) }));
      const chosen = all ? documents : wanted.flatMap(({ document }) => document ?? []);
      const { removeDocuments } = await import("../kb/sync-source.ts");
      return {
        removed: await removeDocuments(operations, new Set(chosen)),
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
  },
});

/** `svc kb`: documents of knowledge bases. */
export const kb = defineCommand({
  commands: { add, sync, list, search, remove },
});

const ARTICLE = { "<article>": "ID of the article" } as const;

const listArticles = defineList({
  path: "articles list",
  isOfProject: true,
  description: "list the articles of a project, newest first",
  examples: ["articles list", "articles list --json"],
  read: ({ listArticles }) => readAll(listArticles),
  columns: ["TITLE", "STATUS", "VERSION", "PUBLISHED", "ID"],
  row: ({ title, status, revision, publishedRevision, id }) => [
    safeLine(title),
    status,
    String(revision),
    String(publishedRevision ?? "-"),
    id,
  ],
  empty: "There are no articles.",
});

const showArticle = defineShow({
  isOfProject: true,
  description: "show the newest version of an article",
  args: ARTICLE,
  examples: ["articles show 01890a5d-ac96-774b-bcce-b302099a8057"],
  find: ({ getArticle }, id) => getArticle(id),
  render: ({ title, text }) => `${safeLine(title)}\n\n${safeText(text)}`,
});

const publishArticle = defineCommand({
  description: "publish the newest version of an article, so that agents search it",
  args: ARTICLE,
  options: { project: projectOption },
  examples: ["articles publish 01890a5d-ac96-774b-bcce-b302099a8057"],
  async run(cli, { article: id, project }) {
    const item = await asAdministrator(cli, project, ({ publishArticle }) => publishArticle({ id }));
    cli.terminal.show({ ok: true, project, item }, () => `Published: ${safeLine(item.title)}.`);
  },
});

/** `svc articles`: articles of a project, and their publication. */
export const articles = defineCommand({ commands: { list: listArticles, show: showArticle, publish: publishArticle } });
