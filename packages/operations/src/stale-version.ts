import { ServiceError } from "@svc/contracts";

/** The version_conflict, with the present `ETag`, of who has another version than this one; `what` begins its text. */
export function staleVersion(what: string, version: number): ServiceError {
  return new ServiceError(
    "version_conflict",
    `${what} has changed; its current version is ${version}. Fetch it again.`,
    {
      headers: { ETag: `"${version}"` },
    },
  );
}
