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
export * from "./bot-api/parse-rich-html.ts";
export * from "./bot-api/parse-telegram-html.ts";
export type { UploadedFile } from "./bot-api/read-payload.ts";
export type { BotUpdate, RateViolation } from "./bot-api/update-queue.ts";
export { findProgram, migrateTestDatabase } from "./shared-servers.ts";
export * from "./child-process.ts";
export * from "./create-test-database.ts";
export * from "./create-test-queue-backend.ts";
export * from "./start-smtp-server.ts";
export { findChromium, findRedisServer } from "./find-programs.ts";
export { holdResource } from "./held-resources.ts";
export { cpuOf, cpuOfMachine, cpuOfRun, memoryOf } from "./process-usage.ts";
export * from "./start-composition.ts";
export * from "./start-faulty-proxy.ts";
export * from "./start-embedding-server.ts";
export * from "./start-embedded-product.ts";
export * from "./start-fake-bot-api.ts";
export * from "./start-fake-model.ts";
export * from "./start-fake-ollama.ts";
export * from "./start-postgres.ts";
export { startMcpServer, toolCall } from "./start-mcp-server.ts";
export type { McpTestServer, McpTestTool } from "./start-mcp-server.ts";
export * from "./start-redis.ts";
export * from "./start-s3-server.ts";
export * from "./start-webhook-receiver.ts";
export * from "./test-settings.ts";
export { randomFrom, waitFor } from "./wait-for.ts";
