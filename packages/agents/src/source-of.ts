import type { Source } from "@svc/contracts";
import type { Passage } from "./answer.ts";
import { excerptOf } from "./readable-markdown.ts";
import { sourceUrl } from "./source-url.ts";

/** Returns the source that a quote of a passage is shown with. The quote stands in the passage word for word. */
export function sourceOf({ title, url, documentId, chunkId, page = null, markdown }: Passage, quote: string): Source {
  const link = url === undefined ? {} : { url: sourceUrl(url, { quote, page }) };
  return { title, ...link, documentId, chunkId, quote, excerpt: excerptOf(quote, markdown) };
}
