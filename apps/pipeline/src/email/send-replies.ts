import { hashAddress, makeUnsubscribeToken } from "@svc/channel-manager";
import { isEmailAddress } from "@svc/outbound";
import { REPLY_MAX_DAYS } from "@svc/store";
import type { ClaimedEmail, EmailConversation } from "@svc/store";
import { NOTHING_SENT, sendEmail } from "./email-context.ts";
import type { EmailContext, EmailOutcome } from "./email-context.ts";
import { chatPageOf, emailLanguage, writeReplyEmail } from "./write-reply-email.ts";

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
