import { KB_LIMITS, ServiceError, kbNameSchema } from "@svc/contracts";
import type { Kb, ProjectId, Store } from "@svc/store";

/**
 * The knowledge base of this name in this project; it is made when there is none. Throws `invalid_request` for a name
 * that is empty, longer than 200 characters or holds NUL or a lone surrogate.
 */
export async function ensureKb(
  deps: { store: Store },
  project: ProjectId,
  name: string,
): Promise<{ kb: Kb; created: boolean }> {
  if (!kbNameSchema.safeParse(name).success) {
    const { nameMaxChars } = KB_LIMITS;
    throw new ServiceError(
      "invalid_request",
      `The name of a knowledge base must have 1 to ${nameMaxChars} characters.`,
      {
        errors: [{ pointer: "/name", code: "invalid_name", detail: `1 to ${nameMaxChars} characters` }],
      },
    );
  }
  return deps.store.kbs.ensure(project, name);
}
