import { ROLE } from "./cluster.ts";

/** The URL of a database of the embedded Postgres, password included: never log it. */
export function connectionUrl(password: string, port: number, database: string): string {
  return `postgres://${ROLE}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
