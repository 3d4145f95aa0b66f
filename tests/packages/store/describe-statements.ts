import { Client } from "pg";
import type { Connection, FieldDef, Submittable } from "pg";

/** A statement as `listStatements` of the store returns it. */
interface Statement {
  name: string;
  text: string;
  parameters: readonly string[];
}

/** PostgreSQL's description of a prepared statement. */
interface Description {
  parameterTypes: number[];
  columns: Pick<FieldDef, "name" | "dataTypeID">[];
}

/** Prepares a statement without running it, with the messages Parse and Describe of the protocol. */
function describe(client: Client, { name, text }: Statement): Promise<Description> {
  return new Promise((resolve, reject) => {
    const description: Description = { parameterTypes: [], columns: [] };
    const fail = (error: Error) => reject(new Error(`${name}: ${error.message}\n${text}`));
    const submittable: Submittable & Record<string, unknown> = {
      submit(connection: Connection) {
        connection.once("parameterDescription", ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          description.parameterTypes = dataTypeIDs;
        });
        connection.parse({ name: "", text, types: [] }, true);
        connection.describe({ type: "S", name: "" }, true);
        connection.sync();
      },
      handleRowDescription({ fields }: { fields: FieldDef[] }) {
        description.columns = fields;
      },
      handleError: fail,
      handleReadyForQuery: () => resolve(description),
    };
    client.query(submittable);
  });
}

/** TypeScript types of PostgreSQL's types: as the driver returns a column, and as it accepts a parameter. */
const SCALARS: Record<string, { column: string; parameter: string }> = {
  bool: { column: "boolean", parameter: "boolean" },
  bytea: { column: "Buffer", parameter: "Uint8Array" },
  date: { column: "Date", parameter: "Date | string" },
  int8: { column: "number", parameter: "number | string" },
  json: { column: "unknown", parameter: "object | string" },
  jsonb: { column: "unknown", parameter: "object | string" },
  numeric: { column: "string", parameter: "number | string" },
  timestamptz: { column: "Date", parameter: "Date | string" },
  ...Object.fromEntries(
    ["int2", "int4", "float4", "float8", "oid"].map((name) => [name, { column: "number", parameter: "number" }]),
  ),
  ...Object.fromEntries(
    ["uuid", "text", "varchar", "name", "tsquery", "tsvector", "regconfig", "regclass", "interval", "xid8", "void"].map(
      (name) => [name, { column: "string", parameter: "string" }],
    ),
  ),
};

function typeOf(name: string | undefined, use: "column" | "parameter"): string {
  const item = name?.replace(/^_/, "") ?? "";
  const type = SCALARS[item]?.[use];
  if (type === undefined) throw new Error(`there is no TypeScript type for PostgreSQL's type ${name}`);
  if (item === name) return type;
  return use === "column" ? `${type}[]` : `readonly (${type} | null)[]`;
}

const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function objectType(entries: readonly (readonly [string, string])[]): string {
  const members = entries.map(([name, type]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${type}`);
  return members.length === 0 ? "object" : `{ ${members.join("; ")} }`;
}

/**
 * Prepares statements on a migrated database and returns the source of `packages/store/src/statement-types.ts`: the
 * types of the parameters and columns of each. Throws if PostgreSQL rejects one.
 */
export async function describeStatements(url: string, statements: readonly Statement[]): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ oid: number; typname: string }>("SELECT oid::integer, typname FROM pg_type");
    const names = new Map(rows.map(({ oid, typname }) => [oid, typname]));
    const files = new Map<string, string[]>();
    const errors: string[] = [];
    for (const statement of statements.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const [path = "", name = ""] = statement.name.split(".");
      try {
        const { parameterTypes, columns } = await describe(client, statement);
        const parameters = objectType(
          statement.parameters.map((key, index) => [key, typeOf(names.get(parameterTypes[index] ?? 0), "parameter")]),
        );
        const row = objectType(
          // Constants such as that of RETURNING 1 have no name.
          columns
            .filter(({ name: column }) => column !== "?column?")
            .map(({ name: column, dataTypeID }) => [camelCase(column), typeOf(names.get(dataTypeID), "column")]),
        );
        const lines = files.get(path) ?? [];
        files.set(path, lines);
        lines.push(`    ${name}: [${parameters}, ${row}];`);
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (errors.length > 0) throw new Error(errors.join("\n\n"));
    const body = [...files].map(([path, lines]) => `  "${path}": {\n${lines.join("\n")}\n  };`);
    return `${HEAD}export interface Statements {\n${body.join("\n")}\n}\n`;
  } finally {
    await client.end();
  }
}

/** A value of each type that parameters of prepared statements have, as SQL. */
const VALUES: Record<string, string> = {
  bool: "true",
  bytea: "'\\x00'",
  jsonb: "'{}'",
  text: "'a'",
  timestamptz: "now()",
  uuid: "gen_random_uuid()",
  ...Object.fromEntries(["int2", "int4", "int8", "float4", "float8"].map((name) => [name, "1"])),
};

function valueOf(name: string): string {
  const item = name.replace(/^_/, "");
  const value = VALUES[item];
  if (value === undefined) throw new Error(`there is no value of PostgreSQL's type ${name}`);
  return item === name ? `${value}::${name}` : `ARRAY[${value}]::${item}[]`;
}

/** PostgreSQL plans a named statement for its values five times before it may keep a plan. */
const EXECUTIONS = 7;

/**
 * Returns the names of those of these statements that PostgreSQL plans again at each execution with arrays of one item,
 * with the settings of connections for messages.
 */
export async function findPlannedAgain(url: string, statements: readonly Statement[]): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SET enable_seqscan = off");
    const found: string[] = [];
    for (const { name, text } of statements) {
      await client.query(`PREPARE checked AS ${text}`);
      const { rows: types } = await client.query<{ typname: string }>(`
        SELECT t.typname FROM pg_prepared_statements s, unnest(s.parameter_types) WITH ORDINALITY AS p (type, place)
        JOIN pg_type t ON t.oid = p.type WHERE s.name = 'checked' ORDER BY p.place`);
      const values = types.map(({ typname }) => valueOf(typname)).join(", ");
      for (let count = 0; count < EXECUTIONS; count += 1) {
        await client.query(`EXPLAIN EXECUTE checked${values === "" ? "" : ` (${values})`}`);
      }
      const { rows } = await client.query("SELECT FROM pg_prepared_statements WHERE generic_plans = 0");
      if (rows.length > 0) found.push(name);
      await client.query("DEALLOCATE checked");
    }
    return found;
  } finally {
    await client.end();
  }
}

const HEAD = `// Generated from packages/store/sql and a real PostgreSQL, and compared with them, by tests/packages/store/statements.test.ts;
// with UPDATE_STATEMENTS=1 it writes this file.
// oxlint-disable max-lines -- generated, a line for each statement

/** Parameters and columns of every statement, by file and name. */
// prettier-ignore
`;
