import { explainCertificateFault } from "@svc/contracts";
import { isRejectedSetting } from "@svc/store";

/** Why a start did not reach PostgreSQL. */
export interface StoreFault {
  /** In words, without addresses and passwords. */
  words: string;
  /** True: waiting does not mend it, somebody has to. */
  isLasting: boolean;
}

const CREDENTIALS = { words: "Check user, password and database in DATABASE_URL.", isLasting: true };

const POOLER = {
  words: "a connection pooler rejects its settings; let DATABASE_URL name PostgreSQL itself instead of a pooler",
  isLasting: true,
};

/** By SQLSTATE or by the code of the system. */
const FAULTS: Readonly<Record<string, StoreFault>> = {
  "28P01": CREDENTIALS,
  "28000": CREDENTIALS,
  "3D000": CREDENTIALS,
  "53100": { words: "its disk is full; make room there", isLasting: false },
  "53300": { words: "it has no connection left; raise max_connections, or start fewer processes", isLasting: false },
  "57P03": { words: "it is just starting, or recovers", isLasting: false },
  ECONNREFUSED: { words: "nothing listens at the host and port of DATABASE_URL", isLasting: false },
  ENOTFOUND: { words: "the host of DATABASE_URL is not known", isLasting: false },
  EAI_AGAIN: { words: "the host of DATABASE_URL is not known, or the name server is away", isLasting: false },
  ETIMEDOUT: { words: "the host of DATABASE_URL does not answer", isLasting: false },
  EHOSTUNREACH: { words: "there is no way to the host of DATABASE_URL", isLasting: false },
  ENETUNREACH: { words: "there is no way to the host of DATABASE_URL", isLasting: false },
};

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Says in words why PostgreSQL was not reached, and whether waiting for it can help. */
export function explainStoreFault(error: unknown): StoreFault {
  const certificate = explainCertificateFault(error);
  if (certificate !== null) return { words: certificate, isLasting: true };
  if (isRejectedSetting(error)) return POOLER;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const known = FAULTS[codeOf(error) ?? codeOf(first) ?? ""];
  return known ?? { words: "see the error beside this", isLasting: false };
}
