import type { CheerioAPI } from "cheerio";

/** A part of a page as cheerio selects it. */
export type PagePart = ReturnType<ReturnType<CheerioAPI["root"]>["find"]>;

/** Number of children below which these comparisons cost nothing. */
const FEW_CHILDREN = 500;

/**
 * Returns what `part.find(selector)` does, in time that grows with the size of the page: cheerio compares all children
 * of the part with each other first, which takes minutes on a page of 100,000 paragraphs.
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
