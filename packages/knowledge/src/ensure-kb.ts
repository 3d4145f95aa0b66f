import { ServiceError, isMalformedText } from "@svc/contracts";
import type { Kb, ProjectId, Store } from "@svc/store";

const NAME_MAX_CHARS = 200;

/**
 * The knowledge base of this name in this project; it is made when there is none. Throws `invalid_request` for a name
 * that is empty, longer than 200 characters or holds NUL or a lone surrogate.
 */
export async function ensureKb(
  deps: { store: Store },
  project: ProjectId,
  name: string,
): Promise<{ kb: Kb; created: boolean }> {
  if (name.trim() === "" || name.length > NAME_MAX_CHARS || isMalformedText(name)) {
    throw new ServiceError("invalid_request", `A knowledge base needs a name of 1 to ${NAME_MAX_CHARS} characters.`, {
      errors: [{ pointer: "/name", code: "invalid_name", detail: `1 to ${NAME_MAX_CHARS} characters` }],
    });
  }
  return deps.store.kbs.ensure(project, name);
}
