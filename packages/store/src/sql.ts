import { readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { camelCase } from "./db.ts";
import type { Db } from "./db.ts";
import type { Statements } from "./statement-types.ts";

/** Folder of the statements: one folder per subject, one file per table or task. */
const DIRECTORY = fileURLToPath(new URL("../sql", import.meta.url));

/**
 * Accepts a row type if it has exactly the columns that the statement returns, with compatible types. PostgreSQL does
 * not report whether a column can be NULL: the row type declares that.
 */
export type RowOf<Row, Columns> = {
  [Name in keyof Row]: Name extends keyof Columns ? Columns[Name] | null : never;
} & { [Name in Exclude<keyof Columns, keyof Row>]: never };

/** Values of a statement's parameters, by name; nothing if it has none. */
type ValuesOf<Parameters> = keyof Parameters extends never
  ? []
  : [values: { [Name in keyof Parameters]: Parameters[Name] | null | undefined }];

/** A statement of `packages/store/sql`. `Parameters` and `Columns` are those that PostgreSQL reports for it. */
export interface Statement<Parameters extends object, Columns extends object> {
  /** File and statement, such as `messages/replies.confirm`. */
  readonly name: string;
  readonly text: string;
  /** Names of `$1`, `$2` and so on. */
  readonly parameters: readonly string[];
  /** Planned once per connection: for statements of the message path. */
  readonly isPrepared: boolean;
  /** Runs it; returns its rows with camelCase names. */
  all<Row extends RowOf<Row, Columns> = Columns & RowOf<Columns, Columns>>(
    db: Db,
    ...values: ValuesOf<Parameters>
  ): Promise<Row[]>;
  /** Runs it; returns its first row, or null if there is none. */
  one<Row extends RowOf<Row, Columns> = Columns & RowOf<Columns, Columns>>(
    db: Db,
    ...values: ValuesOf<Parameters>
  ): Promise<Row | null>;
  /** Runs it; returns the number of rows that it wrote or returned. */
  run(db: Db, ...values: ValuesOf<Parameters>): Promise<number>;
  /** Runs it for its effect. */
  exec(db: Db, ...values: ValuesOf<Parameters>): Promise<void>;
  /** Runs it; returns true if it wrote or returned any row. */
  any(db: Db, ...values: ValuesOf<Parameters>): Promise<boolean>;
}

/** The statements of a file, by name. */
type StatementsOf<File extends keyof Statements> = {
  [Name in keyof Statements[File]]: Statements[File][Name] extends [
    infer Parameters extends object,
    infer Columns extends object,
  ]
    ? Statement<Parameters, Columns>
    : never;
};

type AnyStatement = Statement<Record<string, unknown>, Record<string, unknown>>;

/** Texts of a file: its statements, and the fragments that they share. */
interface StatementFile {
  statements: Map<string, { text: string; isPrepared: boolean }>;
  fragments: Map<string, string>;
}

const HEADER = /^-- (name|fragment): (\w+)( \(prepared\))?$/;

function parseFile(source: string): StatementFile {
  const file: StatementFile = { statements: new Map(), fragments: new Map() };
  for (const part of source.split(/^(?=-- (?:name|fragment): )/m)) {
    const [first = "", ...lines] = part.split("\n");
    const [, kind, name = "", prepared] = HEADER.exec(first) ?? [];
    const text = lines
      .filter((line) => !line.trimStart().startsWith("--"))
      .join("\n")
      .trim()
      .replace(/;$/, "");
    if (kind === "name") file.statements.set(name, { text, isPrepared: prepared !== undefined });
    if (kind === "fragment") file.fragments.set(name, text);
  }
  return file;
}

/** All files of the folder, read once at startup. */
const files = new Map(
  readdirSync(DIRECTORY, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".sql"))
    .map((path) => [
      path.replace(/\.sql$/, "").replaceAll("\\", "/"),
      parseFile(readFileSync(`${DIRECTORY}/${path}`, "utf8")),
    ]),
);

/** A string literal, or a parameter `:name` that is not part of a cast. */
const PARAMETER = /'(?:[^']|'')*'|(?<![:\w]):([a-z][a-z0-9_]*)/g;

function createStatement(name: string, source: string, isPrepared: boolean): AnyStatement {
  const parameters: string[] = [];
  const text = source.replace(PARAMETER, (found, parameter: string | undefined) => {
    if (parameter === undefined) return found;
    const key = camelCase(parameter);
    if (!parameters.includes(key)) parameters.push(key);
    return `$${parameters.indexOf(key) + 1}`;
  });
  const bind = (values: Record<string, unknown> = {}) => ({
    text,
    values: parameters.map((parameter) => values[parameter]),
    ...(isPrepared && { name: basename(name) }),
  });
  return {
    name,
    text,
    parameters,
    isPrepared,
    all: async <Row>(db: Db, values?: Record<string, unknown>) => (await db.run(bind(values))).rows as Row[],
    one: async <Row>(db: Db, values?: Record<string, unknown>) =>
      ((await db.run(bind(values))).rows[0] as Row | undefined) ?? null,
    run: async (db, values?: Record<string, unknown>) => (await db.run(bind(values))).count,
    exec: async (db, values?: Record<string, unknown>) => {
      await db.run(bind(values));
    },
    any: async (db, values?: Record<string, unknown>) => (await db.run(bind(values))).count > 0,
  };
}

/** Returns the values of these columns of rows, for the array parameters of a statement on many rows. */
export const columnsOf = <Row, const Name extends keyof Row & string>(
  rows: readonly Row[],
  ...names: Name[]
): { [Column in Name]: Row[Column][] } =>
  Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as { [Column in Name]: Row[Column][] };

const loaded: AnyStatement[] = [];

/** Returns every statement of the store, for the tests that prepare each of them. */
export const listStatements = (): readonly Pick<AnyStatement, "name" | "text" | "parameters" | "isPrepared">[] =>
  loaded;

/**
 * Returns the statements of a file of `packages/store/sql`, by name. `{{name}}` in them is a fragment of the same file,
 * or one of the given values: a constant of the program or SQL that several files share; never input. Throws if a
 * placeholder has no value.
 */
export function statements<File extends keyof Statements>(
  path: File,
  values: Record<string, string | number> = {},
): StatementsOf<File> {
  const file = files.get(path);
  if (file === undefined) throw new Error(`there is no file sql/${path}.sql`);
  const fill = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = file.fragments.get(name) ?? values[name];
      if (value === undefined) throw new Error(`sql/${path}.sql: {{${name}}} has no value`);
      return fill(String(value));
    });
  const entries = [...file.statements].map(([name, { text, isPrepared }]) => {
    const statement = createStatement(`${path}.${name}`, fill(text), isPrepared);
    loaded.push(statement);
    return [name, statement] as const;
  });
  return Object.fromEntries(entries) as unknown as StatementsOf<File>;
}
