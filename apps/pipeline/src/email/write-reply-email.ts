import { isOriginAllowed, parseUrl, safeLine } from "@svc/contracts";
import type { Email } from "@svc/outbound";
import type { UnseenReply } from "@svc/store";
import { cleanText, fillText, quoteText } from "./clean-text.ts";
import texts from "./reply-texts.json" with { type: "json" };

type Texts = (typeof texts)["en"];

/** Maximum lengths of texts in an email, in code points. */
const MAX_CHARS = { question: 1_000, reply: 20_000, fileName: 100 };

/** Returns the language of an email: the customer's, or English if there are no texts in it. */
export const emailLanguage = (language: string | null): string =>
  language !== null && Object.hasOwn(texts, language) ? language : "en";

/** Page of a conversation: the name of the site, and a link to the page. */
export interface ChatPage {
  site: string;
  url: string;
}

/**
 * Returns the page that a conversation was on if its site may use the widget, and null if it may not, or if any site
 * may. The customer's browser reports the page, so the link has no query or fragment if the address is not verified and
 * may belong to another person.
 */
export function chatPageOf(
  pageUrl: string | null,
  { allowedOrigins, isVerified }: { allowedOrigins: readonly string[]; isVerified: boolean },
): ChatPage | null {
  const url = pageUrl === null ? null : parseUrl(pageUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || allowedOrigins.length === 0) return null;
  if (!isOriginAllowed(url.origin, allowedOrigins)) return null;
  const rest = isVerified ? `${url.search}${url.hash}` : "";
  return { site: url.host, url: `${url.origin}${url.pathname}${rest}` };
}

const LINK = /!?\[([^\][\n]*)\]\((?:<([^<>\n]*)>|([^\s()]*))(?:\s+"[^"\n]*")?\)/g;
const HEADING = /^ {0,3}#{1,6} +/gm;
// Not `__`, which is part of many URLs and names in code. Bounded, so that a long line takes no quadratic time.
const BOLD = /\*\*(?=\S)([^\n]{0,500}?\S)\*\*/g;

/** Converts Markdown to the text of a plain email: lists and tables are unchanged, links are followed by their URL. */
const withoutMarkup = (text: string): string =>
  text
    .replaceAll(LINK, (_link, words: string, angled?: string, bare?: string) => {
      const target = angled ?? bare ?? "";
      return words === target || words === "" ? target : `${words} (${target})`;
    })
    .replaceAll(HEADING, "")
    .replaceAll(BOLD, "$1");

function textOfReply({ type, text, markdown, filename }: UnseenReply, language: Texts): string {
  if (type === "attachment") return fillText(language.file, { name: safeLine(filename ?? "", MAX_CHARS.fileName) });
  return cleanText(markdown ? withoutMarkup(text ?? "") : (text ?? ""), MAX_CHARS.reply);
}

interface ReplyEmail {
  replies: readonly UnseenReply[];
  /** What the customer wrote last; null leaves it out. */
  question: string | null;
  page: ChatPage | null;
  /** One of `emailLanguage`. */
  language: string;
  /** Page with the button, which also accepts one-click unsubscriptions (RFC 8058). */
  unsubscribeUrl: string;
}

/** Writes the email to a customer about replies that no browser has, as plain text. */
export function writeReplyEmail(email: ReplyEmail): Pick<Email, "subject" | "text" | "headers"> {
  const { replies, question, page, language, unsubscribeUrl } = email;
  const known: Readonly<Record<string, Texts>> = texts;
  const words = known[language] ?? texts.en;
  const values = { site: page?.site ?? "" };
  const paragraphs = [
    fillText(page === null ? words.intro : words.introSite, values),
    ...replies.map((reply) => textOfReply(reply, words)),
    ...(question === null ? [] : [`${words.youWrote}\n${quoteText(question, MAX_CHARS.question)}`]),
    ...(page === null ? [] : [`${words.resume}\n${page.url}`]),
    // The line that separates a signature (RFC 3676, section 4.3).
    `-- \n${fillText(page === null ? words.reason : words.reasonSite, values)}\n${words.unsubscribe} ${unsubscribeUrl}`,
  ];
  return {
    subject: words.subject,
    text: paragraphs.join("\n\n"),
    headers: {
      "List-Unsubscribe": `<${unsubscribeUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Content-Language": language,
    },
  };
}
