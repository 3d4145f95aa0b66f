import { Client } from "pg";

interface Table {
  schema: string;
  table: string;
  columns: { name: string; isBytes: boolean }[];
}

/** Every table outside PostgreSQL's system schemas; partitions are covered by their partitioned table. */
const TABLES = `
  SELECT c.table_schema AS schema, c.table_name AS "table",
    json_agg(json_build_object('name', c.column_name, 'isBytes', c.data_type = 'bytea') ORDER BY c.column_name) AS columns
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE t.table_type = 'BASE TABLE' AND c.table_schema NOT IN ('pg_catalog', 'information_schema')
    AND NOT EXISTS (SELECT FROM pg_class p WHERE p.relispartition AND p.relname = c.table_name
      AND p.relnamespace::regnamespace::text = c.table_schema)
  GROUP BY 1, 2 ORDER BY 1, 2`;

/** The text itself, and as hexadecimal and base64 encoded bytes. */
const NEEDLES = ["$1::text", "encode($1::text::bytea, 'hex')", "rtrim(encode($1::text::bytea, 'base64'), '=')"];

/**
 * Returns every column that contains a text (letters and digits), as `schema.table.column`: in any table outside
 * PostgreSQL's system schemas, of any type, case-insensitively; in binary columns also as raw, base64 or hexadecimal
 * bytes.
 */
export async function findInDatabase(databaseUrl: string, text: string): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<Table>(TABLES);
    const found: string[] = [];
    for (const { schema, table, columns } of tables) {
      const checks = columns.map(({ name, isBytes }) => {
        const column = client.escapeIdentifier(name);
        const texts = isBytes ? [`encode(${column}, 'escape')`, `encode(${column}, 'hex')`] : [`${column}::text`];
        const hits = texts.flatMap((value) => NEEDLES.map((needle) => `strpos(lower(${value}), lower(${needle})) > 0`));
        return `bool_or(${hits.join(" OR ")}) AS ${column}`;
      });
      const { rows } = await client.query<Record<string, boolean | null>>(
        `SELECT ${checks.join(", ")} FROM ${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`,
        [text],
      );
      const hits = Object.entries(rows[0] ?? {}).filter(([, isHit]) => isHit === true);
      found.push(...hits.map(([column]) => `${schema}.${table}.${column}`));
    }
    return found;
  } finally {
    await client.end();
  }
}
