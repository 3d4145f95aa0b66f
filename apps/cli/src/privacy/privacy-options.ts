import type { ChannelId, PrivacySubject } from "@svc/contracts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";

/** Whose data it is about, as the commands are told. */
export interface SubjectOptions {
  user?: string;
  visitor?: string;
  chat?: string;
  channel?: ChannelId;
  project: string;
}

/** Whose data it is about. Throws CliError `usage` unless exactly one id is named. */
export function subjectOf({ user, visitor, chat, channel }: SubjectOptions): PrivacySubject {
  const named = [user, visitor, chat].filter((id) => id !== undefined);
  if (named.length !== 1) {
    throw new CliError("usage", EXIT.usage, "Specify one of --user, --visitor and --chat. See: svc privacy --help");
  }
  return {
    ...(user === undefined ? {} : { userId: user }),
    ...(visitor === undefined ? {} : { visitorId: visitor }),
    ...(chat === undefined ? {} : { chatId: chat }),
    ...(channel === undefined ? {} : { channelId: channel }),
  };
}

/** The same in words that are safe for a terminal. A visitor's id is a secret and is not shown. */
export function describeSubject({ user, chat, channel }: SubjectOptions): string {
  if (user !== undefined) return `the user "${safeLine(user, 80)}"`;
  if (chat === undefined) return "this visitor";
  return `the chat "${safeLine(chat, 80)}"${channel === undefined ? "" : ` of the channel ${channel}`}`;
}
