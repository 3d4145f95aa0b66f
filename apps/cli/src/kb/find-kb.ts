import type { Principal } from "@svc/auth";
import { LIST_LIMITS } from "@svc/contracts";
import type { DocumentItem, KbItem, ListPage } from "@svc/contracts";
import { listDocuments, listKbs } from "@svc/operations";
import type { Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";

/** All items of a list, page after page. */
export async function readAll<Item>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: LIST_LIMITS.maxItems, cursor });
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}

/** All knowledge bases of the principal's project, by name. */
export async function listAllKbs(store: Store, principal: Principal): Promise<KbItem[]> {
  const items = await readAll((page) => listKbs({ store }, principal, page));
  return items.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** All documents of a knowledge base, by what they are known as. */
export async function listAllDocuments(store: Store, principal: Principal, kbId: string): Promise<DocumentItem[]> {
  const items = await readAll((page) => listDocuments({ store }, principal, kbId, page));
  return items.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** The knowledge base of this name, or null. */
export async function findKb(store: Store, principal: Principal, name: string): Promise<KbItem | null> {
  const kbs = await listAllKbs(store, principal);
  return kbs.find((kb) => kb.name === name) ?? null;
}

/** The knowledge base of this name. Throws CliError `not_found`, which names those that there are. */
export async function getKb(store: Store, principal: Principal, name: string): Promise<KbItem> {
  const kbs = await listAllKbs(store, principal);
  const found = kbs.find((kb) => kb.name === name);
  if (found !== undefined) return found;
  const advice =
    kbs.length === 0
      ? "There are no knowledge bases yet."
      : `Knowledge bases: ${kbs.map((kb) => safeLine(kb.name, 80)).join(", ")}.`;
  throw new CliError("not_found", EXIT.failed, `No knowledge base is named "${safeLine(name, 80)}". ${advice}`);
}
