import { asAdministrator, readAll } from "../as-administrator.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import { projectOption } from "../options.ts";
import { safeLine, safeText } from "../safe-text.ts";

const ARTICLE = { "<article>": "ID of the article" } as const;

const list = defineList({
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

const show = defineShow({
  isOfProject: true,
  description: "show the newest version of an article",
  args: ARTICLE,
  examples: ["articles show 01890a5d-ac96-774b-bcce-b302099a8057"],
  find: ({ getArticle }, id) => getArticle(id),
  render: ({ title, text }) => `${safeLine(title)}\n\n${safeText(text)}`,
});

const publish = defineCommand({
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
export const articles = defineCommand({ commands: { list, show, publish } });
