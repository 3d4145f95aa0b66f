import { StoreCopyError, findTables, lockSchema, onCopyClient, readApplied } from "./copy-client.ts";
import type { CopiedTable, CopyPlace, FoundTable } from "./copy-client.ts";
import { opensSecretKeyCheck } from "./installation.ts";
import { createSealer } from "./sealer.ts";
import { to as copyTo } from "pg-copy-streams";
import type pg from "pg";

/** What a copy of a store says of itself. */
export interface StoreCopyHead {
  /** When its rows were so, by the clock of the database. */
  takenAt: string;
  /** Version of PostgreSQL that they were read from. */
  postgres: string;
  /** The migrations that its schema has had, in order. */
  migrations: string[];
  /** A constant that is sealed with the secret key of the installation; null where none was set yet. */
  secretKeyCheck: string | null;
}

/** A copy of a store while it is made. */
export interface StoreCopy {
  head: StoreCopyHead;
  /**
   * The tables one after the other, each with its rows in PostgreSQL's text format for COPY: a line a row, which is
   * never `\.` alone. The rows of a table must be read before the next one is asked for.
   */
  tables(): AsyncGenerator<{ table: CopiedTable; rows: AsyncIterable<Buffer> }>;
}

/** Names and columns come from the catalog. */
const quoted = (names: readonly string[], client: pg.Client) =>
  names.map((name) => client.escapeIdentifier(name)).join(", ");

/** The COPY of a table, in a direction. */
export function copyStatement(
  client: pg.Client,
  table: { name: string; columns: readonly string[] },
  end: string,
): string {
  return `COPY ${client.escapeIdentifier(table.name)} (${quoted(table.columns, client)}) ${end}`;
}

async function readHead(client: pg.Client, migrations: string[]): Promise<StoreCopyHead> {
  const { rows } = await client.query<Omit<StoreCopyHead, "migrations" | "secretKeyCheck"> & { check: string | null }>(
    `SELECT to_char(transaction_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "takenAt",
       current_setting('server_version') AS postgres, (SELECT secret_key_check FROM installation) AS check`,
  );
  const [row] = rows;
  if (row === undefined) throw new StoreCopyError("no_schema", "The database contains no installation record.");
  return { takenAt: row.takenAt, postgres: row.postgres, migrations, secretKeyCheck: row.check };
}

// A sequence is no part of a snapshot: it may be further than the rows are, and never behind them.
async function readSequences(client: pg.Client, { name, identities }: FoundTable): Promise<Record<string, number>> {
  const sequences: Record<string, number> = {};
  for (const column of identities) {
    const { rows } = await client.query<{ last: string | null }>(
      "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass)::text AS last",
      [client.escapeIdentifier(name), column],
    );
    const last = rows[0]?.last ?? null;
    if (last !== null) sequences[column] = Number(last);
  }
  return sequences;
}

/**
 * Makes a copy of a store, of one moment, while it may be worked on: a snapshot (REPEATABLE READ), read only, which
 * locks nobody out but migrations. It is read as far as `work` reads it, so that it takes no memory of its own. Works
 * on the schema of this version and of every one before. Throws StoreCopyError `busy`, `no_schema`, `newer_database`
 * and `wrong_key`.
 */
export function takeStoreCopy<Result>(
  place: CopyPlace & { secretKey: string },
  work: (copy: StoreCopy) => Promise<Result>,
): Promise<Result> {
  return onCopyClient(place, "svc-backup", async (client) => {
    await lockSchema(client, "shared");
    const migrations = await readApplied(client);
    if (migrations.length === 0) throw new StoreCopyError("no_schema", "This database has no schema yet.");
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const head = await readHead(client, migrations);
    if (head.secretKeyCheck !== null && !opensSecretKeyCheck(createSealer(place.secretKey), head.secretKeyCheck)) {
      throw new StoreCopyError("wrong_key", "The secret key does not match this database.");
    }
    const { copied } = await findTables(client);

    async function* tables(): ReturnType<StoreCopy["tables"]> {
      for (const found of copied) {
        place.signal.throwIfAborted();
        const { name, columns } = found;
        const table = { name, columns, sequences: await readSequences(client, found) };
        yield { table, rows: client.query(copyTo(copyStatement(client, table, "TO STDOUT"))) };
      }
    }
    const result = await work({ head, tables });
    await client.query("COMMIT");
    return result;
  });
}

/** How many rows each of these tables of ours has; those that are not there are left out. Reads each of them whole. */
export function countStoreRows(place: CopyPlace, names: readonly string[]): Promise<Map<string, number>> {
  return onCopyClient(place, "svc-backup", async (client) => {
    const { all } = await findTables(client);
    const counts = new Map<string, number>();
    for (const name of names.filter((wanted) => all.includes(wanted))) {
      const { rows } = await client.query<{ count: string }>(
        `SELECT count(*) AS count FROM ${client.escapeIdentifier(name)}`,
      );
      counts.set(name, Number(rows[0]?.count ?? 0));
    }
    return counts;
  });
}
