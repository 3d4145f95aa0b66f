import { createHash } from "node:crypto";
import { ERRORS } from "@svc/contracts";
import { DOCS_STYLE } from "./docs-style.ts";
import { escapeHtml, inlineHtml, paragraphs } from "./html.ts";
import type { OpenApiDocument, OperationObject } from "./openapi-document.ts";
import { operationHtml } from "./render-operation.ts";
import type { OperationPlace } from "./render-operation.ts";
import { schemaHtml } from "./render-schema.ts";

/** A page and the Content-Security-Policy under which it is shown: its one style, and nothing else. */
export interface DocsPage {
  html: string;
  policy: string;
}

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The operations of each chapter, in the order of the document. */
function placesByTag({ tags, paths, webhooks }: OpenApiDocument): [tag: string, words: string, OperationPlace[]][] {
  const all = [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]: [string, OperationObject]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  return tags.map(({ name, description }) => [
    name,
    description,
    all.filter(({ operation }) => operation.tags.includes(name)),
  ]);
}

const anchorOf = (tag: string) => `tag-${tag.toLowerCase().replaceAll(" ", "-")}`;

function navHtml(chapters: [string, string, OperationPlace[]][]): string {
  const parts = chapters.map(([tag, , places]) => {
    const links = places.map(
      ({ operation: { operationId, summary } }) =>
        `<li><a href="#${escapeHtml(operationId)}">${escapeHtml(summary)}</a></li>`,
    );
    return `<details><summary>${escapeHtml(tag)}</summary><ul><li><a href="#${anchorOf(tag)}">Overview</a></li>${links.join("")}</ul></details>`;
  });
  return `<nav aria-label="Contents">${parts.join("\n")}<a href="#errors">Errors</a><a href="#schemas">Schemas</a></nav>`;
}

function errorsHtml(): string {
  const items = Object.entries(ERRORS).map(
    ([code, { status, title, when, fix }]) =>
      `<div class="error" id="error-${code}"><span class="status">${status}</span> <code class="name">${code}</code> ${escapeHtml(title)}<div class="words">${inlineHtml(when)} ${inlineHtml(fix)}</div></div>`,
  );
  return `<h2 id="errors">Errors</h2><p>All errors are <code>application/problem+json</code> with one of these codes.</p>${items.join("\n")}`;
}

function schemasHtml({ components: { schemas } }: OpenApiDocument): string {
  const items = Object.entries(schemas).map(
    ([name, schema]) =>
      `<section class="schema" id="schema-${escapeHtml(name)}"><h3><a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a></h3>${schemaHtml(schema, { schemas, tells: "required" })}</section>`,
  );
  return `<h2 id="schemas">Schemas</h2>${items.join("\n")}`;
}

/** Makes the page that people read of an OpenAPI document: HTML with one style, without scripts or anything from elsewhere. */
export function renderDocs(document: OpenApiDocument): DocsPage {
  const { info, components, servers } = document;
  const chapters = placesByTag(document);
  const main = chapters.map(([tag, words, places]) => {
    const operations = places.map((place) => operationHtml(place, components));
    return `<h2 id="${anchorOf(tag)}">${escapeHtml(tag)}</h2>${paragraphs(words)}${operations.join("\n")}`;
  });
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}: HTTP API</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="page">
<header><h1>${escapeHtml(info.title)}</h1><p class="version">HTTP API, version ${escapeHtml(info.version)} · <a href="openapi.json">OpenAPI 3.1</a></p></header>
${navHtml(chapters)}
<main id="main">
${paragraphs(info.description)}
<p>The examples below use two shell variables:</p>
<pre tabindex="0">export SVC_URL=${escapeHtml(servers[0]?.url ?? "")}
export SVC_KEY=&lt;your key&gt;</pre>
${main.join("\n")}
${errorsHtml()}
${schemasHtml(document)}
</main>
</div>
</body>
</html>
`;
  return { html, policy: POLICY };
}
