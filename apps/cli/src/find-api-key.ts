import type { Principal } from "@svc/auth";
import type { KeyItem } from "@svc/contracts";
import { listKeys } from "@svc/operations";
import { isUuid } from "@svc/primitives";
import type { Store } from "@svc/store";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { safeLine } from "./safe-text.ts";

const PAGE = 200;
/** No list shows more of a key. */
const SHOWN_CHARS = 8;

/** All keys, newest first, of which name or beginning contain a text where one is given. */
export async function listAllKeys(store: Store, principal: Principal, q?: string): Promise<KeyItem[]> {
  const items: KeyItem[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await listKeys({ store }, principal, { limit: PAGE, cursor: cursor ?? undefined, q });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

/**
 * The id of a key that a person names: the id itself, or the beginning of the key as lists show it. Throws CliError
 * `usage` for what is most likely a whole key, `not_found`, and `ambiguous` with the keys that are meant.
 */
export async function findApiKeyId(store: Store, principal: Principal, named: string): Promise<string> {
  // The sign at the end is how lists say that there is more of it.
  const name = named.replace(/…$/, "");
  if (isUuid(name)) return name;
  // What a person gave is not repeated: it may be a secret.
  if (name === "" || Array.from(name).length > SHOWN_CHARS) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify the key by its ID, or by its prefix as shown by keys list; never by the key itself.",
    );
  }
  const live = await listAllKeys(store, principal, name);
  const meant = live.filter(({ prefix, revokedAt }) => revokedAt === null && prefix.startsWith(name));
  const [only, ...others] = meant;
  if (only === undefined) {
    throw new CliError("not_found", EXIT.failed, "No active key has this prefix. See: svc keys list");
  }
  if (others.length > 0) {
    const lines = meant.map((item) => `  ${item.id}  ${safeLine(item.prefix)}…  ${safeLine(item.name)}`);
    throw new CliError("ambiguous", EXIT.failed, `Several keys have this prefix; specify the ID:\n${lines.join("\n")}`);
  }
  return only.id;
}
