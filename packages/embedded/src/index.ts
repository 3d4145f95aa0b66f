export * from "./acquire-data-folder.ts";
export { findBinaries, makeUsable } from "./find-binaries.ts";
export { hasCluster } from "./cluster.ts";
export { DataFolderInUseError, EmbeddedPostgresError } from "./run-tool.ts";
export type { PostgresLogger } from "./run-tool.ts";
export { findRunningPostgres } from "./postmaster-file.ts";
export type { PostgresExit } from "./launch-postmaster.ts";
export { checkLoopback } from "./launch-on-port.ts";
export * from "./start-embedded-postgres.ts";
