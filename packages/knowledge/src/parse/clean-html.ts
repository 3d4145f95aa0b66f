import { parseUrl } from "@svc/contracts";
import { load } from "cheerio";
import type { CheerioAPI } from "cheerio";
import { mainContent, selectWithin } from "./main-content.ts";
import type { PagePart } from "./main-content.ts";

/** HTML of a page's content, the page's title and its links. */
interface CleanHtml {
  /** Inner HTML; elements are nested no deeper than requested. */
  html: string;
  title: string | null;
  /** Absolute URLs of the whole page, each once, without those that robots should not follow. */
  links: string[];
}

/** Extent of the extracted text: the main content, or everything a reader could see. */
type HtmlExtent = "main" | "everything";

type Selection = ReturnType<CheerioAPI["root"]>;
type Node = ReturnType<Selection["contents"]>[number];

/** Elements that never contain text of the page. */
const NO_TEXT =
  "script, style, noscript, template, link, meta, iframe, frame, frameset, object, embed, applet, svg, canvas, audio, video, map, datalist, input, select, textarea, progress, meter";

/** Allowed schemes of links; others (javascript:, data:, vbscript:) execute something instead of linking. */
const LINK_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:", "ftp:"]);

const BLOCKS =
  "address, article, aside, blockquote, div, dl, dt, dd, fieldset, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, p, pre, section, table, ul";

/**
 * Extracts the content of a page: no scripts, styles, forms, hidden elements or images (their alternative text is
 * kept), and with `main` no navigation, banners and other page furniture either. Links become absolute; those that
 * would execute something become text. Time and memory grow with the number of tags, not with their nesting.
 */
export function cleanHtml(source: string, options: { url?: string; extent: HtmlExtent; maxDepth: number }): CleanHtml {
  const $ = load(source);
  flattenDepth($, options.maxDepth);
  const title = titleOf($);
  const base = baseOf($, options.url);
  const links = linksOf($, base);
  $(NO_TEXT).remove();
  const root = options.extent === "main" ? mainContent($) : $("body");
  cleanForms($, root);
  cleanCode($, root);
  cleanLinks($, root, base);
  cleanImages($, root);
  cleanTables($, root);
  cleanDefinitions($, root);
  cleanMarks($, root);
  return { html: root.html() ?? "", title, links };
}

/**
 * Replaces elements that are nested too deeply by their text, without recursion: later steps may then recurse safely.
 */
function flattenDepth($: CheerioAPI, maxDepth: number): void {
  const open: { node: Node; depth: number }[] = $.root()
    .contents()
    .toArray()
    .map((node) => ({ node, depth: 1 }));
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { node, depth } = entry;
    if (!("children" in node)) continue;
    if (depth >= maxDepth && node.children.some((child) => "children" in child)) $(node).text(textBelow($, node));
    else for (const child of node.children) open.push({ node: child, depth: depth + 1 });
  }
}

function textBelow($: CheerioAPI, top: Node): string {
  const texts: string[] = [];
  const open: Node[] = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!("children" in node)) texts.push($(node).text());
    else if (!("tagName" in node) || !/^(?:script|style|noscript|template)$/.test(node.tagName)) {
      open.push(...node.children.toReversed());
    }
  }
  return texts.join(" ").replace(/\s+/g, " ");
}

function titleOf($: CheerioAPI): string | null {
  const candidates = [
    $("head title").first().text(),
    $('meta[property="og:title"]').attr("content") ?? "",
    $("h1").first().text(),
  ];
  return candidates.map((text) => text.replace(/\s+/g, " ").trim()).find((text) => text !== "") ?? null;
}

function baseOf($: CheerioAPI, url: string | undefined): string | undefined {
  const base = $("base[href]").first().attr("href");
  const named = base === undefined ? null : parseUrl(base, url);
  if (named !== null) return named.href;
  return url !== undefined && parseUrl(url) !== null ? url : undefined;
}

/** Maximum number of links of a page. */
const MAX_LINKS = 10_000;

/** Returns what a page links to for robots (`nofollow` of links and of the robots meta element), without fragments. */
function linksOf($: CheerioAPI, base: string | undefined): string[] {
  const isClosed = $("meta[name=robots i]").is((_, meta) =>
    /\b(?:nofollow|none)\b/i.test($(meta).attr("content") ?? ""),
  );
  if (isClosed) return [];
  const links = new Set<string>();
  $("a[href], area[href]").each((_, link) => {
    const url = parseUrl($(link).attr("href")?.trim() ?? "", base);
    if (url !== null && !/\bnofollow\b/i.test($(link).attr("rel") ?? "")) links.add(url.href.replace(/#.*$/s, ""));
    return links.size < MAX_LINKS;
  });
  return [...links];
}

/**
 * Keeps the text of forms and buttons: some sites wrap a whole page in one form, and FAQs use buttons for their
 * questions.
 */
function cleanForms($: CheerioAPI, root: PagePart): void {
  const total = root.text().length;
  selectWithin($, root, "form").each((_, form) => {
    const isPage = selectWithin($, $(form), "main, article, h1").length > 0 || $(form).text().length > total * 0.3;
    if (isPage) $(form).replaceWith($(form).contents());
    else $(form).remove();
  });
  selectWithin($, root, "button, [role=button]").each((_, button) => {
    const saysSomething =
      $(button).is("[aria-expanded]") || $(button).closest("h1, h2, h3, h4, h5, h6, summary, dt").length > 0;
    if (saysSomething) $(button).replaceWith($(button).contents());
    else if (button.tagName === "button") $(button).remove();
  });
}

/** Preserves lines and language of code, and removes line numbers. */
function cleanCode($: CheerioAPI, root: PagePart): void {
  selectWithin(
    $,
    root,
    ".linenos, .lineno, .linenumber, .line-numbers-rows, .gutter, td.blob-num, .rouge-gutter",
  ).remove();
  selectWithin($, root, "table:has(pre)").each((_, table) => unwrapTable($, table));
  selectWithin($, root, "pre").each((_, pre) => {
    const block = $(pre);
    const language = languageOf(
      [pre, ...selectWithin($, block, "code").first().toArray(), ...block.parents().slice(0, 2).toArray()].map(
        (element) => $(element).attr("class") ?? "",
      ),
    );
    selectWithin($, block, "br").replaceWith("\n");
    selectWithin($, block, "div, p, li, tr").each((_, line) => {
      if (!$(line).text().endsWith("\n")) $(line).append("\n");
    });
    if (language !== null) block.attr("data-language", language);
    block.text(block.text());
  });
}

function languageOf(classes: readonly string[]): string | null {
  for (const names of classes) {
    const language = /(?:^|\s)(?:language|lang|highlight-source|highlight|brush:\s*)-?(?!source)([a-z][\w+#]*)/i.exec(
      names,
    )?.[1];
    if (language !== undefined && !["default", "none", "text", "plaintext", "highlighter"].includes(language))
      return language;
  }
  return null;
}

function cleanLinks($: CheerioAPI, root: PagePart, base: string | undefined): void {
  selectWithin($, root, "a").each((_, anchor) => {
    const link = $(anchor);
    const text = link.text().trim();
    const href = (link.attr("href") ?? "").trim();
    if (/^[¶#§🔗]?$/u.test(text) && selectWithin($, link, "img").length === 0) {
      link.remove();
      return;
    }
    const target = targetOf(href, base);
    const blocks = selectWithin($, link, BLOCKS);
    if (target === null || blocks.length > 0) {
      const heading = blocks.filter("h1, h2, h3, h4, h5, h6").first();
      if (target !== null && heading.length > 0) {
        heading
          .html(`<a>${heading.html() ?? ""}</a>`)
          .children("a")
          .attr("href", target);
      }
      link.replaceWith(link.contents());
      return;
    }
    link.attr("href", target).removeAttr("title");
  });
}

/** Returns the absolute URL of a link, or null if it is within the page or would execute something. */
function targetOf(href: string, base: string | undefined): string | null {
  if (href === "" || href.startsWith("#")) return null;
  // A relative link of a page with an unknown URL has no target.
  const url = parseUrl(href, base);
  if (url === null) return null;
  // In Markdown a parenthesis would end the URL.
  return LINK_SCHEMES.has(url.protocol) ? url.href.replaceAll("(", "%28").replaceAll(")", "%29") : null;
}

function cleanImages($: CheerioAPI, root: PagePart): void {
  selectWithin($, root, "img, picture").each((_, image) => {
    const alt = ($(image).attr("alt") ?? $(image).find("img").attr("alt") ?? "").replace(/\s+/g, " ").trim();
    const isName = /^\S+\.\w{2,4}$/.test(alt);
    if (alt === "" || isName) $(image).remove();
    else $(image).replaceWith($("<span></span>").text(alt));
  });
}

/** Replaces layout tables by their content, and repeats spanned cells in each row, so that each row is complete. */
function cleanTables($: CheerioAPI, root: PagePart): void {
  selectWithin($, root, "table").each((_, table) => {
    const grid = $(table);
    const rows = selectWithin($, grid, "tr").toArray();
    const isLayout =
      grid.is("[role=presentation], [role=none]") ||
      selectWithin($, grid, "table, h1, h2, h3").length > 0 ||
      rows.length < 2 ||
      rows.every(
        (row) =>
          $(row)
            .children("td, th")
            .filter((_, cell) => $(cell).text().trim() !== "").length < 2,
      );
    if (isLayout) {
      unwrapTable($, table);
      return;
    }
    const caption = grid.children("caption");
    if (caption.text().trim() !== "") grid.before($("<p></p>").html(caption.html() ?? ""));
    caption.remove();
    selectWithin($, grid, "colgroup, col").remove();
    repeatSpans($, rows);
  });
}

const MAX_ROWSPAN = 1_000;
const MAX_REPEATED_CHARS = 200;
/** Limit per table. */
const MAX_REPEATED_CELLS = 10_000;

function repeatSpans($: CheerioAPI, rows: readonly Node[]): void {
  const pending: { column: number; left: number; html: string }[] = [];
  let repeated = 0;
  for (const row of rows) {
    const cells = $(row).children("td, th");
    if (pending.length === 0 && cells.filter("[rowspan]").length === 0) continue;
    let column = 0;
    const due = pending.splice(0).sort((one, other) => one.column - other.column);
    const flush = () => {
      for (let next = due[0]; next !== undefined && next.column <= column; next = due[0]) {
        due.shift();
        repeated += 1;
        const copy = $("<td></td>").html(next.html);
        const at = $(row).children("td, th").eq(column);
        if (at.length > 0) at.before(copy);
        else $(row).append(copy);
        if (next.left > 1 && repeated < MAX_REPEATED_CELLS) pending.push({ ...next, left: next.left - 1 });
        column += 1;
      }
    };
    for (const cell of cells.toArray()) {
      flush();
      const span = Math.min(Number($(cell).attr("rowspan") ?? 1) || 1, MAX_ROWSPAN);
      const html = $(cell).html() ?? "";
      if (span > 1 && repeated < MAX_REPEATED_CELLS)
        pending.push({ column, left: span - 1, html: html.length <= MAX_REPEATED_CHARS ? html : "" });
      column += 1;
    }
    column = Number.MAX_SAFE_INTEGER;
    flush();
  }
}

/** Converts a table and its cells to plain blocks; nested tables are kept. */
function unwrapTable($: CheerioAPI, table: Node): void {
  const parts = selectWithin($, $(table), "caption, thead, tbody, tfoot, tr, td, th").toArray();
  for (const part of parts) {
    if ($(part).closest("table").get(0) === table) part.tagName = "div";
  }
  if ("tagName" in table) table.tagName = "div";
}

/** Converts definition lists and disclosure elements, which Markdown lacks: the term in bold above its definition. */
function cleanDefinitions($: CheerioAPI, root: PagePart): void {
  selectWithin($, root, "dt, summary, legend").each((_, term) => {
    if ($(term).find(BLOCKS).length > 0 || $(term).text().trim() === "") return;
    $(term)
      .find("strong, b, em, i, var, cite")
      .each((_, mark) => {
        $(mark).replaceWith($(mark).contents());
      });
    $(term).replaceWith($("<p></p>").append($("<strong></strong>").append($(term).contents())));
  });
  selectWithin($, root, "dd").each((_, definition) => {
    $(definition).replaceWith($("<div></div>").append($(definition).contents()));
  });
}

/** Removes bold within bold, because Markdown would double its marks. */
function cleanMarks($: CheerioAPI, root: PagePart): void {
  for (const marks of ["b, strong", "i, em"]) {
    selectWithin($, root, marks).each((_, mark) => {
      if ($(mark).parent().closest(marks).length > 0) $(mark).replaceWith($(mark).contents());
    });
  }
}
