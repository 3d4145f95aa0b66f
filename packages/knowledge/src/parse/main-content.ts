import type { CheerioAPI } from "cheerio";

/** A cheerio selection of a part of a page. */
export type PagePart = ReturnType<ReturnType<CheerioAPI["root"]>["find"]>;

/** Number of children up to which these comparisons are cheap. */
const FEW_CHILDREN = 500;

/** Elements that are invisible, or for navigation rather than content. */
const FURNITURE =
  "nav, dialog, menu, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=dialog], [role=alertdialog], [role=menu], [role=menubar], [role=tablist], [role=doc-toc]";

/** Class names that documentation and blog tools use for edit links, contents, breadcrumbs and skip links. */
const CONVENTIONS =
  ".mw-editsection, sup.reference, .navbox, .toc, #toc, .breadcrumb, .breadcrumbs, [aria-label=breadcrumb], [aria-label=breadcrumbs], .skip-link, .skip-to-content, .sr-only, .visually-hidden, .screen-reader-text, .pagination, .pagination-nav, .navheader, .navfooter, .theme-doc-footer, .edit-this-page, .theme-edit-this-page, .share-buttons, .social-share, .sharedaddy, .addtoany_share_save_container, .jp-relatedposts, .reflist-nav, .noprint, .no-print, .ad, .ads, .advertisement";

/** Class names of consent banners: those of well-known vendors, or cookie with a word that only a banner uses. */
const CONSENT =
  /onetrust|cookiebot|cookieconsent|truste|didomi|usercentrics|cc-window|cky-consent|klaro|(?:cookie|gdpr|consent|ccpa)s?[-_]*(?:banner|notice|bar|popup|pop-up|modal|overlay|law|dialog|message|consent|wall|prompt|info|policy-bar)|(?:banner|notice|bar|popup|modal|overlay)[-_]*(?:cookie|gdpr|consent)/i;

/** Class names of page furniture in sites without semantic elements. */
const FURNITURE_NAMES =
  /(?:^|[-_\s])(?:nav|navbar|navigation|menu|sidebar|side-bar|footer|header|masthead|topbar|breadcrumbs?|share|sharing|social|related|recommended|newsletter|subscribe|promo|comments?-form|pager|pagination)(?:$|[-_\s])/i;

/** A box that belongs to the content of an article. */
const NOTE =
  /note|warning|tip|hint|info|caution|danger|important|admonition|callout|alert|footnote|example|box|definition|summary/i;

/** Minimum share of a page's text in its main element, so that a main element used for something else is ignored. */
const MAIN_SHARE = 0.2;
const MAIN_CHARS = 500;

/** Maximum length of a consent banner. */
const CONSENT_CHARS = 5_000;

/** Share of link text from which a part with the class name of furniture is furniture. */
const LINK_SHARE = 0.5;

/**
 * Returns the main content of a page: `main`, else the only `article`, else the body; without hidden elements,
 * navigation, headers and footers of the page, asides that are not notes, and consent banners. The page's h1 is moved
 * to the front if it is outside. Changes the document; returns an empty part if nothing is left.
 */
export function mainContent($: CheerioAPI): PagePart {
  const body = $("body");
  removeHidden($, body);
  const h1 = headlineOf($);
  selectWithin($, body, FURNITURE).remove();
  selectWithin($, body, CONVENTIONS).remove();
  const root = chooseRoot($, body);
  removePageParts($, root);
  removeContents($, root);
  if (h1 !== null && selectWithin($, root, "h1").length === 0) root.prepend($("<h1></h1>").text(h1));
  return root;
}

/** Collapsed content that a click shows is kept; hidden content without a control that shows it is removed. */
function removeHidden($: CheerioAPI, body: PagePart): void {
  const controlled = new Set(
    selectWithin($, body, "[aria-controls]")
      .toArray()
      .flatMap((control) => ($(control).attr("aria-controls") ?? "").split(/\s+/)),
  );
  const isFolded = (part: PagePart) =>
    part.is("[role=tabpanel], [hidden=until-found]") ||
    (part.is("[role=region]") && controlled.has(part.attr("id") ?? ""));
  selectWithin($, body, "[hidden], [aria-hidden=true], [style]").each((_, element) => {
    const part = $(element);
    const isUnstyled = /display\s*:\s*none|visibility\s*:\s*hidden/i.test(part.attr("style") ?? "");
    if (!isUnstyled && !part.is("[hidden], [aria-hidden=true]")) return;
    if (!isFolded(part)) part.remove();
  });
}

/** Returns the page's own headline: an h1 that its title begins with, so that the site's name is not used. */
function headlineOf($: CheerioAPI): string | null {
  const squash = (text: string) => text.replace(/\s+/g, " ").trim();
  const title = squash($("head title").first().text()).toLowerCase();
  const h1 = squash($("h1").first().text());
  return h1 !== "" && (title === "" || title.startsWith(h1.toLowerCase())) ? h1 : null;
}

function chooseRoot($: CheerioAPI, body: PagePart): PagePart {
  const total = textLength(body);
  const isEnough = (part: PagePart) =>
    textLength(part) >= Math.min(MAIN_CHARS, total * MAIN_SHARE) && textLength(part) > 0;
  const longest = (parts: PagePart) =>
    parts
      .toArray()
      .map((part) => $(part))
      .toSorted((one, other) => textLength(other) - textLength(one))[0];
  const main = longest(selectWithin($, body, "main, [role=main]"));
  const within = main !== undefined && isEnough(main) ? main : body;
  const article = longest(
    selectWithin($, within, "article, [itemprop=articleBody], .markdown-body, .mw-parser-output"),
  );
  return article !== undefined && textLength(article) > textLength(within) * LINK_SHARE ? article : within;
}

function removePageParts($: CheerioAPI, root: PagePart): void {
  const isBody = root.is("body");
  selectWithin($, root, "header").each((_, header) => {
    const part = $(header);
    const opensArticle = !isBody || part.closest("article, main, section").length > 0;
    if (!opensArticle || selectWithin($, part, "h1, h2, h3").length === 0) part.remove();
  });
  selectWithin($, root, "footer, address").each((_, footer) => {
    if (footer.tagName === "footer" && $(footer).closest("blockquote, figure").length === 0) $(footer).remove();
  });
  selectWithin($, root, "aside").each((_, aside) => {
    const part = $(aside);
    const isNote = part.is("[role=note], [role=doc-footnote]") || NOTE.test(part.attr("class") ?? "");
    if (isBody ? part.closest("article").length === 0 || !isNote : !isNote) part.remove();
  });
  selectWithin($, root, "[id], [class]").each((_, element) => {
    const part = $(element);
    const names = `${part.attr("id") ?? ""} ${part.attr("class") ?? ""}`;
    const isNamed = { consent: CONSENT.test(names), furniture: FURNITURE_NAMES.test(names) };
    if (!isNamed.consent && !isNamed.furniture) return;
    if (/^h[1-6]$/.test(element.tagName) || part.closest("pre, code, table").length > 0) return;
    const length = textLength(part);
    const isConsent = isNamed.consent && (isBody || part.is("[role]")) && length < CONSENT_CHARS;
    const isFurniture =
      isNamed.furniture &&
      selectWithin($, part, "h1").length === 0 &&
      lengthOf($, part, "a") > (length - lengthOf($, part, "h2, h3, h4, h5, h6")) * LINK_SHARE;
    if (isConsent || isFurniture) part.remove();
  });
}

/** Minimum number of links in a table of contents, which has nearly no other text. */
const CONTENTS_LINKS = 3;
const CONTENTS_SHARE = 0.9;

/** Removes tables of contents: their headings follow on the page. */
function removeContents($: CheerioAPI, root: PagePart): void {
  selectWithin($, root, "ul, ol").each((_, element) => {
    const list = $(element);
    if (list.parent().closest("ul, ol").length > 0) return;
    const links = selectWithin($, list, "a[href^='#']");
    if (links.length < CONTENTS_LINKS) return;
    if (lengthOf($, list, "a[href^='#']") < textLength(list) * CONTENTS_SHARE) return;
    const heading = list.prev("h1, h2, h3, h4, h5, h6, p");
    if (/^(?:table of )?contents$|^on this page$/i.test(heading.text().trim())) heading.remove();
    list.remove();
  });
}

function textLength(part: PagePart): number {
  return part.text().replace(/\s+/g, " ").length;
}

/** Returns the length of the text that the selector matches in a part. */
function lengthOf($: CheerioAPI, part: PagePart, selector: string): number {
  return selectWithin($, part, selector)
    .toArray()
    .reduce((sum, element) => sum + textLength($(element)), 0);
}

/**
 * Returns the result of `part.find(selector)` in linear time: cheerio first compares all children of the part with each
 * other, which takes minutes on a page of 100,000 paragraphs.
 */
export function selectWithin(
  $: CheerioAPI,
  part: PagePart | ReturnType<PagePart["contents"]>,
  selector: string,
): PagePart {
  const top = part.get(0);
  if (part.length > 1 || top === undefined || !("children" in top) || top.children.length < FEW_CHILDREN) {
    return part.find(selector);
  }
  return $.root()
    .find(selector)
    .filter((_, element) => {
      for (let above = element.parent; above !== null; above = above.parent) {
        if (above === top) return true;
      }
      return false;
    });
}
