import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nullIfMissing } from "./null-if-missing.ts";

/** What is known from earlier starts. It only saves time: without it everything is found out again. */
export type RememberedState = {
  port: number | null;
  databases: readonly string[];
  /** Of the password that the product's role has (`markOfPassword`); null where no start of this version has set one. */
  passwordMark: string | null;
};

const NOTHING: RememberedState = { port: null, databases: [], passwordMark: null };

const STATE_FILE = "postgres.json";

/** Reads what earlier starts noted down; a missing or damaged note is an empty one. */
export async function readState(dataDir: string): Promise<RememberedState> {
  const text = await nullIfMissing(readFile(join(dataDir, STATE_FILE), "utf8"));
  if (text === null) return NOTHING;
  try {
    const value: unknown = JSON.parse(text);
    const { port, databases, passwordMark } = (typeof value === "object" && value !== null ? value : {}) as Record<
      string,
      unknown
    >;
    return {
      port: typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null,
      databases: Array.isArray(databases) ? databases.filter((name) => typeof name === "string") : [],
      passwordMark: typeof passwordMark === "string" ? passwordMark : null,
    };
  } catch (error) {
    if (error instanceof SyntaxError) return NOTHING;
    throw error;
  }
}

/** Notes it down for the next start, in one step. */
export async function writeState(dataDir: string, state: RememberedState): Promise<void> {
  const file = join(dataDir, STATE_FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`);
  await rename(`${file}.new`, file);
}
