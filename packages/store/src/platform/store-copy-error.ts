/** Why a copy of a store cannot be made or put back. */
export type StoreCopyFault =
  /** Another migration, copy or restore is at work on this database. */
  | "busy"
  /** The database has migrations that this version does not know. */
  | "newer_database"
  /** The database has no schema yet, so that there is nothing to copy. */
  | "no_schema"
  /** The copy was made by a newer version. */
  | "newer_copy"
  /** The secret key is not the one that the secrets are sealed with. */
  | "wrong_key"
  /** Processes of the product are at work on the database. */
  | "in_use"
  /** The database holds data, and nobody has said that it may be replaced. */
  | "not_empty"
  /** What is in the copy does not fit together, or not into the schema that it names. */
  | "bad_copy";

/** A copy of a store that was refused; nothing has been changed. The message says what was found. */
export class StoreCopyError extends Error {
  readonly fault: StoreCopyFault;

  constructor(fault: StoreCopyFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreCopyError";
    this.fault = fault;
  }
}
