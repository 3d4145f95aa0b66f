import type { Principal } from "@svc/auth";
import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { OPERATOR_FILE_LIMITS, ServiceError } from "@svc/contracts";
import type { OperatorFile } from "@svc/contracts";
import type { Store } from "@svc/store";
import { audited } from "./audited.ts";
import { requireScopeOf } from "./operation.ts";
import { readTicket } from "./tickets.ts";

/** A file as it was handed in. */
export interface HandedInFile {
  name: string;
  bytes: Buffer;
}

/**
 * Keeps a file that a reply of this ticket will name, for a day at most. Its name is cleaned, its type is told by its
 * content. Scope tickets:write. Throws not_found, payload_too_large, and rate_limited when the ticket has too many files
 * that no reply names.
 */
export const addReplyFile = audited(
  "tickets.file",
  async function addReplyFile(
    { store }: { store: Store },
    principal: Principal,
    ticketId: string,
    { name, bytes }: HandedInFile,
  ): Promise<OperatorFile> {
    requireScopeOf(principal, "addReplyFile");
    const ticket = await readTicket(store, principal, ticketId);
    if (bytes.length === 0) {
      throw new ServiceError("invalid_request", "The file is empty.", {
        errors: [{ pointer: "", code: "too_small", detail: "must not be empty" }],
      });
    }
    if (bytes.length > OPERATOR_FILE_LIMITS.fileMaxBytes) {
      throw new ServiceError("payload_too_large", "A file must not exceed 10 MB.");
    }
    const filename = cleanFileName(name);
    const mime = sniffMime(bytes);
    const fileId = await store.operatorFiles.insert(ticket.homeProject, ticket.id, { filename, mime, content: bytes });
    if (fileId === null) {
      throw new ServiceError(
        "rate_limited",
        "This ticket has too many files that are not attached to a reply yet. Send some of them first.",
      );
    }
    return { fileId, filename, mime, sizeBytes: bytes.length };
  },
);
