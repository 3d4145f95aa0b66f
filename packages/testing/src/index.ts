// Every test file loads this file, so other workspaces are imported only when needed.
export { channelConformance } from "./channel-conformance.ts";
export type { ChannelUnderTest, ItemToSend, SentItem } from "./channel-conformance.ts";
export type {
  ChatFailure,
  FakeBot,
  FileFields,
  OfferedFile,
  SentAction,
  SentMessage,
  WrittenMessage,
} from "./bot-api/fake-bot.ts";
export type { RateViolation } from "./bot-api/find-rate-violations.ts";
export { RICH_LIMITS, parseRichHtml } from "./bot-api/parse-rich-html.ts";
export type { RichText } from "./bot-api/parse-rich-html.ts";
export { parseTelegramHtml } from "./bot-api/parse-telegram-html.ts";
export type { TelegramEntity, TelegramText } from "./bot-api/parse-telegram-html.ts";
export type { UploadedFile } from "./bot-api/read-payload.ts";
export type { BotUpdate } from "./bot-api/update-queue.ts";
export { findProgram } from "./ask-shared-server.ts";
export { spawnChild } from "./child-process.ts";
export type { ChildProcess, Exit } from "./child-process.ts";
export { countRedisKeysWith } from "./count-redis-keys-with.ts";
export { createTestDatabase } from "./create-test-database.ts";
export type { DatabaseStart, TestDatabase } from "./create-test-database.ts";
export { createTestQueueBackend } from "./create-test-queue-backend.ts";
export type { TestQueueBackend } from "./create-test-queue-backend.ts";
export { findExim, startExim } from "./start-exim.ts";
export type { Exim } from "./start-exim.ts";
export { findChromium } from "./find-chromium.ts";
export { findRedisServer } from "./find-in-path.ts";
export { freePort } from "./free-port.ts";
export { holdResource } from "./held-resources.ts";
export { migrateTestDatabase } from "./migrate-test-database.ts";
export { cpuOf, cpuOfMachine, memoryOf } from "./process-usage.ts";
export { queryDatabase } from "./query-database.ts";
export { randomFrom } from "./random-from.ts";
export { repositoryPath } from "./repository-path.ts";
export { runRedisScript } from "./run-redis-script.ts";
export { startComposition } from "./start-composition.ts";
export type { Composition, CompositionOptions, CompositionProcess, FurtherApp } from "./start-composition.ts";
export { startCuttingProxy } from "./start-cutting-proxy.ts";
export type { CutDecision, CuttingProxy, RequestHead } from "./start-cutting-proxy.ts";
export { startEmbeddingServer } from "./start-embedding-server.ts";
export type { EmbeddingServer, EmbeddingServerOptions, EmbeddingServerRequest } from "./start-embedding-server.ts";
export { startEmbeddedProduct } from "./start-embedded-product.ts";
export type { EmbeddedProduct } from "./start-embedded-product.ts";
export { startFakeBotApi } from "./start-fake-bot-api.ts";
export type {
  BotApiCall,
  BotApiFailure,
  BotApiOutcome,
  BotApiServerKind,
  FakeBotApi,
  FailureScript,
} from "./start-fake-bot-api.ts";
export { startFakeModel } from "./start-fake-model.ts";
export type { FakeModel, TransmissionOptions, ModelRequest, ModelScript } from "./start-fake-model.ts";
export { DISK_FULL, UNKNOWN_MODEL, linesOfPull, startFakeOllama } from "./start-fake-ollama.ts";
export type { FakeOllama, OllamaModel, OllamaPull, PullScript, PullStep } from "./start-fake-ollama.ts";
export { findPgBouncer, startPgBouncer } from "./start-pgbouncer.ts";
export type { PgBouncer } from "./start-pgbouncer.ts";
export { findBundledPostgres, findInstalledPostgres, startInstalledPostgres } from "./start-installed-postgres.ts";
export type { InstalledPostgres } from "./start-installed-postgres.ts";
export { startMcpServer } from "./start-mcp-server.ts";
export type { McpTestServer, McpTestTool } from "./start-mcp-server.ts";
export { startPostgres } from "./start-postgres.ts";
export type { PrivatePostgres } from "./start-postgres.ts";
export { startProcess } from "./start-process.ts";
export type { ProcessOptions } from "./start-process.ts";
export { startRedis } from "./start-redis.ts";
export type { PrivateRedis } from "./start-redis.ts";
export { startSilencingProxy } from "./start-silencing-proxy.ts";
export type { SilenceEnd, SilencingProxy } from "./start-silencing-proxy.ts";
export { startS3Server } from "./start-s3-server.ts";
export type { S3Server } from "./start-s3-server.ts";
export { startSmtpServer } from "./start-smtp-server.ts";
export type { EmailScript, ReceivedEmail, SmtpReceiver } from "./start-smtp-server.ts";
export { startWebhookReceiver } from "./start-webhook-receiver.ts";
export type {
  FullAnswer,
  ReceivedRequest,
  ReceiverAnswer,
  ReceiverScript,
  WebhookReceiver,
} from "./start-webhook-receiver.ts";
export { makeTemporaryFolder } from "./temporary-folder.ts";
export { collectLog, testLog } from "./test-log.ts";
export type { LogLine } from "./test-log.ts";
export { COMPOSITIONS, QUEUE_BACKENDS, readTestSettings } from "./test-settings.ts";
export type { CompositionName, QueueBackend, TestSettings } from "./test-settings.ts";
export { toolCall } from "./tool-call.ts";
export { waitFor } from "./wait-for.ts";
export { writeEmbeddingModel } from "./write-embedding-model.ts";
export type { EmbeddingModelOptions } from "./write-embedding-model.ts";
