import { explainCertificateFault } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import { isRejectedSetting } from "@svc/store";

/** Why a start did not reach PostgreSQL. */
export interface StoreFault {
  /** In words, without addresses and passwords. */
  words: string;
  /** True: waiting does not mend it, somebody has to. */
  isLasting: boolean;
}

const CREDENTIALS = { words: "Check the user, password and database in DATABASE_URL.", isLasting: true };

const POOLER = {
  words: "a connection pooler rejects its settings; use PostgreSQL's own address in DATABASE_URL",
  isLasting: true,
};

/** By SQLSTATE or by the code of the system. */
const FAULTS: Readonly<Record<string, StoreFault>> = {
  "28P01": CREDENTIALS,
  "28000": CREDENTIALS,
  "3D000": CREDENTIALS,
  "53100": { words: "its disk is full; free disk space", isLasting: false },
  "53300": { words: "it has no free connections; raise max_connections, or run fewer processes", isLasting: false },
  "57P03": { words: "it is starting or recovering", isLasting: false },
  ECONNREFUSED: { words: "no server is listening on the host and port in DATABASE_URL", isLasting: false },
  ENOTFOUND: { words: "the host name in DATABASE_URL does not exist", isLasting: false },
  EAI_AGAIN: {
    words: "the host name in DATABASE_URL does not exist, or the DNS server is unavailable",
    isLasting: false,
  },
  ETIMEDOUT: { words: "the host in DATABASE_URL does not respond", isLasting: false },
  EHOSTUNREACH: { words: "there is no route to the host in DATABASE_URL", isLasting: false },
  ENETUNREACH: { words: "there is no route to the host in DATABASE_URL", isLasting: false },
};

/** Says in words why PostgreSQL was not reached, and whether waiting for it can help. */
export function explainStoreFault(error: unknown): StoreFault {
  const certificate = explainCertificateFault(error);
  if (certificate !== null) return { words: certificate, isLasting: true };
  if (isRejectedSetting(error)) return POOLER;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const known = FAULTS[errorCode(error) ?? errorCode(first) ?? ""];
  return known ?? { words: "see the attached error", isLasting: false };
}
