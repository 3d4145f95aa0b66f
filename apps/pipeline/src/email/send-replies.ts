import { hashAddress, makeUnsubscribeToken } from "@svc/channel-manager";
import { isEmailAddress } from "@svc/outbound";
import { REPLY_MAX_DAYS } from "@svc/store";
import type { ClaimedEmail, EmailConversation, UnseenReply } from "@svc/store";
import { isOriginAllowed, parseUrl, safeLine } from "@svc/contracts";
import type { Email } from "@svc/outbound";
import { cleanText, fillText, NOTHING_SENT, quoteText, sendEmail } from "./email-context.ts";
import type { EmailContext, EmailOutcome } from "./email-context.ts";
import texts from "./reply-texts.json" with { type: "json" };

type Texts = (typeof texts)["en"];

/** Maximum lengths of texts in an email, in code points. */
const MAX_CHARS = { question: 1_000, reply: 20_000, fileName: 100 };

/** Returns the language of an email: the customer's, or English if there are no texts in it. */
const emailLanguage = (language: string | null): string =>
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
function chatPageOf(
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
function writeReplyEmail(email: ReplyEmail): Pick<Email, "subject" | "text" | "headers"> {
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

/**
 * Maximum number of emails to an address in 24 hours, of all projects: anybody can type another person's address into a
 * form.
 */
const MAX_PER_DAY = { verified: 50, given: 3 };
/** Delay of replies to an address that has reached its limit. */
const LIMIT_WAIT_MS = 3_600_000;
/** Delay of replies while the customer of their conversation does not exist yet. */
const CUSTOMER_WAIT_MS = 60_000;
const DAY_MS = 86_400_000;

/** Address to which replies to a customer are sent. */
interface Recipient {
  address: string;
  /** True if the channel vouches for the address or a person has set it; false if it was typed into a form. */
  isVerified: boolean;
}

/** Returns the most trustworthy address of a customer, or null if the project sends nothing to any that it has. */
function recipientOf({ email, isEmailEdited, provenEmail, replyEmails }: EmailConversation): Recipient | null {
  const trusted = email !== null && isEmailEdited ? email : provenEmail;
  if (trusted !== null) return isEmailAddress(trusted) ? { address: trusted, isVerified: true } : null;
  if (email === null || replyEmails?.recipients !== "all") return null;
  return isEmailAddress(email) ? { address: email, isVerified: false } : null;
}

/** Sites on which the widget may be shown for this project; none if the widget belongs to another one. */
async function readOrigins({ store }: EmailContext, { projectName }: EmailConversation): Promise<readonly string[]> {
  const { widget } = await store.channelsConfig.read();
  return widget.config.project === projectName ? widget.config.allowedOrigins : [];
}

/** Sends the replies of a conversation that its customer has not seen, as one email; withdraws the others. */
export async function sendReplies(context: EmailContext, claim: ClaimedEmail): Promise<EmailOutcome> {
  const { store, config } = context;
  const emails = store.emailNotifications;
  const conversation = await emails.findConversation(claim);
  if (conversation === null || conversation.isClosed || conversation.replyEmails === null) return NOTHING_SENT;
  const { project, customerId } = conversation;
  if (customerId === null) {
    return Date.now() - claim.createdAt.getTime() > REPLY_MAX_DAYS * DAY_MS
      ? NOTHING_SENT
      : { waitMs: CUSTOMER_WAIT_MS };
  }
  const recipient = recipientOf(conversation);
  if (recipient === null) return NOTHING_SENT;
  const { address, isVerified } = recipient;
  const addressHash = hashAddress(store.sealer, address);
  if (await emails.isUnsubscribed(project, { customerId, addressHash })) return NOTHING_SENT;
  const replies = await emails.readUnseen(claim);
  const [first] = replies;
  if (first === undefined) return NOTHING_SENT;
  const maxPerDay = isVerified ? MAX_PER_DAY.verified : MAX_PER_DAY.given;
  if (!(await emails.reserveAddress(claim, { addressHash, maxPerDay }))) return { waitMs: LIMIT_WAIT_MS };
  const question = await emails.findQuestion(claim, first.seq);
  const language = emailLanguage(conversation.language);
  const token = makeUnsubscribeToken(store.sealer, { project, customerId, addressHash });
  const written = writeReplyEmail({
    replies,
    // A stranger must not be able to send a text of their own to any address that they enter.
    question: isVerified && question !== null && question.text !== "" ? question.text : null,
    page: chatPageOf(question?.pageUrl ?? null, {
      allowedOrigins: await readOrigins(context, conversation),
      isVerified,
    }),
    language,
    unsubscribeUrl: `${config.widgetUrl}/unsubscribe/${token}?lang=${language}`,
  });
  await sendEmail(context, { id: claim.emailId, to: address, ...written });
  return { sent: replies.map(({ id }) => ({ kind: "reply", source: id })) };
}
