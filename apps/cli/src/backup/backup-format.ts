import { z } from "zod";
import { CliError, EXIT } from "../cli-error.ts";

/** The form that this version writes, and the only one that it reads. */
export const BACKUP_FORMAT = 1;

/** How the lines between the rows begin. The rows of COPY are never one of them: between a table and its end stand rows. */
export const MARKS = { head: "#svc-backup ", table: "#table ", end: "#end ", total: "#total " } as const;

/** The line after the last row of a table. */
export const END_OF_ROWS = "\\.\n";

/** The text that is sealed with the secret key: proof that the writer of the file had it. */
export const sealedText = (sha256: string) => `svc backup ${sha256}`;

const countSchema = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const nameSchema = z.string().min(1).max(255);
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** The first line. */
export const headSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** Version of the program that wrote it. */
  program: z.string().max(100),
  takenAt: z.iso.datetime(),
  postgres: z.string().max(200),
  migrations: z.array(nameSchema).min(1).max(10_000),
  /** A constant sealed with the secret key of the installation; null where none was set yet. */
  secretKeyCheck: z.string().max(1_000).nullable(),
});
export type BackupHead = z.output<typeof headSchema>;

/** The line before the rows of a table. */
export const tableSchema = z.object({
  name: nameSchema,
  columns: z.array(nameSchema).min(1).max(2_000),
  sequences: z.record(nameSchema, countSchema),
});

/** The line after the rows of a table: how many there were, and the SHA-256 of their lines. */
export const endSchema = z.object({ rows: countSchema, sha256: sha256Schema });

/** The last line: the SHA-256 of every line before, and that hash sealed with the secret key. */
export const totalSchema = z.object({
  tables: countSchema,
  rows: countSchema,
  sha256: sha256Schema,
  seal: z.string().max(1_000),
});
export type BackupTotal = z.output<typeof totalSchema>;

/** What is wrong with a backup file: `cut_off`, `damaged`, or `no_backup` when it never was one. */
export class BackupFileError extends CliError {
  constructor(code: "cut_off" | "damaged" | "no_backup", message: string, options?: ErrorOptions) {
    super(code, EXIT.failed, message, options);
    this.name = "BackupFileError";
  }
}

const LINE_FEED = 0x0a;

/** How many lines end in these bytes. */
export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}
