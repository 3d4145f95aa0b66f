import { Resolver, lookup as systemLookup } from "node:dns";
import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { domainToASCII } from "node:url";
import { callbackify } from "node:util";

/** Dependencies of a look-up, which tests replace. */
interface ReceiverLookupTools {
  /** Creates a resolver that queries this machine's name servers without a thread. */
  makeResolver?: () => Resolver;
  /** The system resolver, with its hosts file and name services. */
  system?: LookupFunction;
}

/** At most nine seconds: 3 for the first attempt, 6 for the second one. A callback has 15, a fetch 30. */
const PATIENCE = { timeout: 3_000, tries: 2 };

/** Names of this machine, and single labels, which name servers do not know. */
const isLocalName = (name: string) => !name.includes(".") || /\.(?:localhost|localdomain\d?)$/.test(name);

/**
 * Returns the DNS look-up for names from untrusted sources: receivers of callbacks, pages of knowledge bases. The
 * system resolver (getaddrinfo) occupies one of the process's two threads for it, for ten seconds and more if a name
 * server does not respond: one such name would delay all other look-ups, including those of the database. So these
 * names are resolved by the name servers directly; only names in `allow`, and those of this machine, use the system
 * resolver.
 */
export function createReceiverLookup(allow: readonly string[], tools: ReceiverLookupTools = {}): LookupFunction {
  const { makeResolver = () => new Resolver(PATIENCE), system = systemLookup } = tools;
  const operatorNames = new Set(allow.map((entry) => domainToASCII(entry.trim()).replace(/\.+$/, "")));
  return (name, options, callback) => {
    if (isLocalName(name) || operatorNames.has(name)) {
      system(name, options, callback);
      return;
    }
    // A new resolver for each name, which uses the current name servers.
    resolveAny(makeResolver(), name, familiesOf(options.family), (error, addresses) =>
      callback(error, addresses ?? []),
    );
  };
}

function familiesOf(family: number | string | undefined): (4 | 6)[] {
  if (family === 4 || family === "IPv4") return [4];
  return family === 6 || family === "IPv6" ? [6] : [4, 6];
}

/** Error codes of name servers for a name that does not exist or has no such address. */
const NO_ADDRESS: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

/** Returns the error that the system's resolver would return. */
function asSystemError(name: string, errors: NodeJS.ErrnoException[]): Error {
  const isUnknown = errors.every(({ code }) => NO_ADDRESS.has(code));
  const text = isUnknown ? "has no address" : "could not be resolved";
  return Object.assign(new Error(`The host name ${name} ${text}.`, { cause: errors[0] }), {
    code: isUnknown ? "ENOTFOUND" : "EAI_AGAIN",
  });
}

/** Resolves all addresses of a name, IPv4 first. Rejects with ENOTFOUND or EAI_AGAIN if no family has one. */
async function resolveAll(resolver: Resolver, name: string, families: (4 | 6)[]): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled(families.map((family) => resolve(resolver, name, family)));
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const errors = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason as NodeJS.ErrnoException] : [],
  );
  throw asSystemError(name, errors);
}

const resolveAny = callbackify(resolveAll);

function resolve(resolver: Resolver, name: string, family: 4 | 6): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    const finish = (error: NodeJS.ErrnoException | null, addresses: string[]) => {
      if (error === null) done(addresses.map((address) => ({ address, family })));
      else fail(error);
    };
    if (family === 4) resolver.resolve4(name, finish);
    else resolver.resolve6(name, finish);
  });
}
