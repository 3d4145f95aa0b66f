// Every test file loads this file, so other workspaces are imported only when needed.
export * from "./channel-conformance.ts";
export type {
  ChatFailure,
  FakeBot,
  FileFields,
  OfferedFile,
  SentAction,
  SentMessage,
  WrittenMessage,
} from "./bot-api/fake-bot.ts";
export type { RateViolation } from "./bot-api/update-queue.ts";
export * from "./bot-api/parse-rich-html.ts";
export * from "./bot-api/parse-telegram-html.ts";
export type { UploadedFile } from "./bot-api/read-payload.ts";
export type { BotUpdate } from "./bot-api/update-queue.ts";
export { findProgram, migrateTestDatabase } from "./shared-servers.ts";
export * from "./child-process.ts";
export { countRedisKeysWith, runRedisScript } from "./create-test-queue-backend.ts";
export * from "./create-test-database.ts";
export * from "./create-test-queue-backend.ts";
export * from "./start-smtp-server.ts";
export { findChromium } from "./find-programs.ts";
export { findRedisServer } from "./find-programs.ts";
export { freePort } from "./child-process.ts";
export { holdResource } from "./held-resources.ts";
export { cpuOf, cpuOfMachine, memoryOf } from "./process-usage.ts";
export { queryDatabase } from "./create-test-database.ts";
export { randomFrom } from "./wait-for.ts";
export { repositoryPath, COMPOSITIONS, QUEUE_BACKENDS, readTestSettings } from "./test-settings.ts";
export * from "./start-composition.ts";
export * from "./start-faulty-proxy.ts";
export * from "./start-embedding-server.ts";
export * from "./start-embedded-product.ts";
export * from "./start-fake-bot-api.ts";
export * from "./start-fake-model.ts";
export * from "./start-fake-ollama.ts";
export * from "./start-postgres.ts";
export * from "./start-postgres.ts";
export { startMcpServer, toolCall } from "./start-mcp-server.ts";
export type { McpTestServer, McpTestTool } from "./start-mcp-server.ts";
export * from "./start-redis.ts";
export * from "./start-s3-server.ts";
export * from "./start-webhook-receiver.ts";
export { makeTemporaryFolder } from "./child-process.ts";
export * from "./test-settings.ts";
export type { CompositionName, QueueBackend, TestSettings } from "./test-settings.ts";
export { waitFor } from "./wait-for.ts";
