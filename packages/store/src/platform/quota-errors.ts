import { ServiceError } from "@svc/contracts";
import type { QuotaName, ReachedQuota } from "@svc/contracts";

/** Seconds after which a client may retry if all sockets of the project are in use. */
const SOCKET_RETRY_S = 30;

const WORDS: Record<QuotaName, string> = {
  messagesPerDay: "messages of the day",
  documents: "documents",
  storageMb: "MB of storage",
  sockets: "open sockets",
};

const reached = (
  name: QuotaName,
  { limit, used, until = null }: { limit: number; used: number; until?: Date | null },
) => {
  const quota: ReachedQuota = { name, limit, used, resetsAt: until?.toISOString() ?? null };
  return { text: `The project uses ${used} of its ${limit} ${WORDS[name]}.`, quota };
};

/** Returns the error of a content limit: of documents, or of stored megabytes. */
export function storageQuotaExceeded(name: "documents" | "storageMb", limit: number, used: number): ServiceError {
  const { text, quota } = reached(name, { limit, used });
  return new ServiceError(
    "storage_quota_exceeded",
    `${text} Delete some content, or ask an administrator to raise the limit.`,
    {
      quota,
    },
  );
}

/** Returns the error of a temporary limit: of the messages of a day, or of open sockets. */
export function quotaExceeded(name: "messagesPerDay" | "sockets", limit: number, used: number): ServiceError {
  const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0));
  const until = name === "messagesPerDay" ? midnight : null;
  const { text, quota } = reached(name, { limit, used, until });
  const seconds = until === null ? SOCKET_RETRY_S : Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1_000));
  const when = until === null ? `in ${seconds} s` : `after ${until.toISOString()}`;
  return new ServiceError("quota_exceeded", `${text} Retry ${when}, or ask an administrator to raise the limit.`, {
    quota,
    headers: { "Retry-After": String(seconds) },
  });
}
