import { setTimeout as wait } from "node:timers/promises";
import type { Request, Response } from "express";
import { LIMITS, OPERATOR_FILE_LIMITS, checkInput, operatorFileInputSchema, ServiceError } from "@svc/contracts";
import type { ModelPull } from "@svc/contracts";
import { createOpenLimit, principalOf, recheckKey } from "../authenticated.ts";
import { readBodyBytes, readJsonBody } from "../json-body.ts";
import { openEventStream, streamError } from "../open-event-stream.ts";
import { problemResponse } from "../problem.ts";
import type { BodyMeter } from "../json-body.ts";
import type { EventStream } from "../open-event-stream.ts";
import type * as operations from "@svc/operations";
import type {
  ExecuteDeps,
  ReplyFileUpload,
  IngestDeps,
  ModelDeps,
  ModelSettingsDeps,
  QueuedDocument,
  ReceiveHookBody,
} from "@svc/operations";
import { requireScope } from "@svc/auth";
import { isUnavailable } from "@svc/store";
import type { ModelPullRecord, ModelPullState } from "@svc/store";
import type { AddressGuard } from "@svc/outbound";
import { UPLOAD_MAX_BYTES, createUploadGate, invalidForm, readForm, withUpload } from "./read-upload.ts";
import { sendItem, sendJson } from "./send-result.ts";

/** Polling interval of a pull. */
const POLL_MS = 250;
/** A revoked key is noticed within this time. */
const CHECK_KEY_MS = 2_000;
/** How long a response waits for Ollama to find the model, so that an unknown model is an ordinary error. */
const FIRST_PROGRESS_MS = 2_000;

/** Id of the event of a model that was installed already. */
const INSTALLED = "installed";

/** A call that follows a pull. */
interface PullCall {
  context: AdminContext;
  request: Request;
  response: Response;
  catalogId: string;
}

const ERRORS: Record<Exclude<ModelPullState, "running" | "done">, (record: ModelPullRecord) => ServiceError> = {
  failed: ({ failure }) => new ServiceError(failure?.code ?? "pull_failed", failure?.detail ?? "The pull failed."),
  cancelled: ({ catalogId }) =>
    new ServiceError("pull_cancelled", `The pull of ${catalogId} was cancelled. Pull it again to resume.`),
};

const find = ({ context, response }: PullCall, catalogId: string, pullId: string) =>
  context.operations.findPull(context, principalOf(response), catalogId, pullId);

const acceptsEvents = ({ request }: PullCall) =>
  request.method !== "HEAD" && request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";

/** Dependencies of the administration endpoints. */
export interface AdminContext extends IngestDeps, ModelDeps, ModelSettingsDeps, Required<Omit<ExecuteDeps, "models">> {
  /** The operations that the endpoints call. */
  operations: typeof operations;
  /** Aborted when the process stops: long responses end then, and the client asks another replica. */
  closing: AbortSignal;
  /** Maximum of concurrent calls that follow the pull of a model. */
  maxOpenCalls: number;
  /** Decides which callback URLs are allowed. */
  guard: AddressGuard;
  /** Creates a message from a hook's body. */
  receiveHookBody: ReceiveHookBody;
}

/** Handles a call of an endpoint by a principal that has its scope. */
export type Handler = (context: AdminContext, request: Request, response: Response) => Promise<void>;

/** Returns the ID of an event about a pull: its version shows whether a caller has seen it. */
const eventIdOf = ({ id, version }: ModelPullRecord) => `${id}.${version}`;

const idOf = ({ params }: Request) => String(params["id"]);

/**
 * What one process reads concurrently: two of the largest bodies, of two keys. Each costs up to three times its size of
 * memory. A body as small as any other request does not count.
 */
const uploadGate = () =>
  createUploadGate({
    maxBytes: 2 * UPLOAD_MAX_BYTES,
    callerMaxBytes: UPLOAD_MAX_BYTES,
    freeBytes: LIMITS.bodyMaxBytes,
  });

/** What one process reads concurrently: a few of the largest bodies, not all from one operator. */
const replyFileGate = () =>
  createUploadGate({
    maxBytes: 6 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
    callerMaxBytes: 2 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
    freeBytes: 256 * 1024,
  });

/** Sends one document, or several in their order: 201 if any of them is new, else 200. */
function sendDocuments(response: Response, path: string, queued: readonly QueuedDocument[]): void {
  const [first] = queued;
  const isNew = queued.some((document) => document.isNew);
  const status = isNew ? 201 : 200;
  if (queued.length === 1 && first !== undefined) {
    sendItem(response, { item: first.item, status, location: isNew ? `${path}/${first.item.id}` : undefined });
    return;
  }
  if (isNew) response.setHeader("Location", path);
  sendJson(response, status, { items: queued.map(({ item }) => item), nextCursor: null });
}

function documentsHandler(): Handler {
  const gate = uploadGate();
  return async (context, request, response) => {
    const principal = principalOf(response);
    const kbId = idOf(request);
    const kb = `/api/v1/admin/kb/${kbId}`;
    // Checked before up to 50 MB are read.
    await context.operations.requireUploadTarget(context, principal, kbId);
    await withUpload(request, { gate, caller: principal.keyId ?? principal.actor }, async (upload) => {
      if ("files" in upload) {
        sendDocuments(
          response,
          `${kb}/documents`,
          await context.operations.addFiles(context, principal, kbId, upload.files),
        );
        return;
      }
      const added = await context.operations.addDocuments(context, principal, kbId, upload.json);
      if (!("import" in added)) sendDocuments(response, `${kb}/documents`, [added]);
      else sendItem(response, { item: added.import, status: 201, location: `${kb}/imports/${added.import.id}` });
    });
  };
}

const isForm = (request: Request) => /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "");

async function readFormFile(request: Request, meter: BodyMeter): Promise<ReplyFileUpload> {
  const body = await readBodyBytes(request, OPERATOR_FILE_LIMITS.bodyMaxBytes, meter);
  const { files } = await readForm(body, request.headers["content-type"] ?? "");
  const [file] = files;
  if (file === undefined || files.length > 1) throw invalidForm("it must contain exactly one file");
  return file;
}

async function readJsonFile(request: Request, meter: BodyMeter): Promise<ReplyFileUpload> {
  const body = await readJsonBody(request, OPERATOR_FILE_LIMITS.bodyMaxBytes, meter);
  const { filename, content } = checkInput(operatorFileInputSchema, body, "The file");
  return { name: filename, bytes: Buffer.from(content, "base64") };
}

function replyFileHandler(): Handler {
  const gate = replyFileGate();
  return async (context, request, response) => {
    const principal = principalOf(response);
    const ticketId = idOf(request);
    await gate.admit(principal.keyId ?? principal.actor, async (meter) => {
      const file = await (isForm(request) ? readFormFile : readJsonFile)(request, meter);
      const item = await context.operations.addReplyFile(context, principal, ticketId, file);
      sendItem(response, { item, status: 201, location: `/api/v1/admin/tickets/${ticketId}/files/${item.fileId}` });
    });
  };
}

function pullHandler(maxOpenCalls: number): Handler {
  const limitOpen = createOpenLimit(maxOpenCalls, "model pull requests");
  return async (context, request, response) => {
    limitOpen(request, response);
    await followPull(context, request, response);
  };
}

/** Creates the handlers of the endpoints that take uploads or send events. */
export function createHandlers({ maxOpenCalls }: Pick<AdminContext, "maxOpenCalls">) {
  const pull = pullHandler(maxOpenCalls);
  return {
    addDocuments: documentsHandler(),
    addReplyFile: replyFileHandler(),
    followPull: pull,
    pullModel: pull,
  } as const satisfies Record<string, Handler>;
}

/** Returns the error of a pull that ended without the model; null for any other. */
function errorOf(record: ModelPullRecord): ServiceError | null {
  return record.state === "failed" || record.state === "cancelled" ? ERRORS[record.state](record) : null;
}

/** Returns the current state of a pull. A pull that has been replaced by a new one counts as cancelled. */
async function refetch(call: PullCall, last: ModelPullRecord): Promise<ModelPullRecord> {
  return (await find(call, last.catalogId, last.id)) ?? { ...last, state: "cancelled", version: last.version + 1 };
}

/** Waits until Ollama has found the model, the pull has ended, or the time is over. */
async function awaitFirstProgress(call: PullCall, first: ModelPullRecord): Promise<ModelPullRecord> {
  const until = performance.now() + FIRST_PROGRESS_MS;
  let record = first;
  while (record.state === "running" && record.totalBytes === null && performance.now() < until) {
    if (call.response.destroyed) break;
    await wait(POLL_MS / 2);
    record = await refetch(call, record);
  }
  return record;
}

/** Returns a function that throws if the key has lost the scope; it checks at most every two seconds. */
function createKeyCheck(response: Response): () => Promise<void> {
  let checkAt = performance.now() + CHECK_KEY_MS;
  return async () => {
    if (performance.now() < checkAt) return;
    requireScope(await recheckKey(response), "models:write");
    checkAt = performance.now() + CHECK_KEY_MS;
  };
}

function sendProgress({ context, request, response }: PullCall, events: EventStream, record: ModelPullRecord): void {
  const error = errorOf(record);
  const { status, completedBytes, totalBytes } = record;
  if (record.state === "running") events.send("progress", { status, completedBytes, totalBytes }, eventIdOf(record));
  else if (error === null) events.send("done", context.operations.asModelPull(record), eventIdOf(record));
  else events.send("error", JSON.parse(problemResponse(request, response, error).body), eventIdOf(record));
}

/** Sends each state of a pull until it ends, the client disconnects or the key expires. */
async function sendStates(call: PullCall, events: EventStream, first: ModelPullRecord): Promise<void> {
  const checkKey = createKeyCheck(call.response);
  let sentVersion = 0;
  let record = first;
  while (events.isOpen()) {
    if (record.version !== sentVersion) {
      sentVersion = record.version;
      sendProgress(call, events, record);
    }
    if (record.state !== "running") break;
    await Promise.race([wait(POLL_MS, undefined, { ref: false }), events.closed]);
    if (!events.isOpen()) break;
    try {
      await checkKey();
      record = await refetch(call, record);
    } catch (error) {
      // While the database is unavailable the client waits.
      if (!isUnavailable(error)) throw error;
    }
  }
}

async function stream(call: PullCall, first: ModelPullRecord): Promise<void> {
  const { context, request, response } = call;
  const events = openEventStream(response, { signal: context.closing });
  try {
    await sendStates(call, events, first);
  } catch (error) {
    if (!(error instanceof ServiceError)) context.log.error({ error }, "pull progress stream failed");
    events.send("error", streamError(request, response, error));
  } finally {
    events.end();
  }
}

/** Returns the pull in `Last-Event-ID`, and whether the client has received its last event; null if there is none. */
async function findSeen(call: PullCall): Promise<{ record: ModelPullRecord; isComplete: boolean } | null> {
  const [, pullId, version] = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(call.request.get("last-event-id") ?? "") ?? [];
  const record = pullId === undefined ? null : await find(call, call.catalogId, pullId);
  return record === null ? null : { record, isComplete: Number(version) >= record.version };
}

function send(response: Response, status: number, pull: ModelPull): void {
  response.status(status).setHeader("Cache-Control", "no-store");
  response.json(pull);
}

function sendInstalled(call: PullCall, pull: ModelPull): void {
  if (!acceptsEvents(call)) {
    send(call.response, 200, pull);
    return;
  }
  const events = openEventStream(call.response, { signal: call.context.closing });
  events.send("done", pull, INSTALLED);
  events.end();
}

/** Responds to a client that reconnects after the last event: nothing is left to send, and no pull starts. */
function sendNothing({ response }: PullCall): void {
  response.status(204).setHeader("Cache-Control", "no-store").end();
}

/** Resumes the stream of a pull that has ended. Returns false if there is none to resume. */
async function resume(call: PullCall): Promise<boolean> {
  const isInstalled = call.request.get("last-event-id") === INSTALLED;
  const seen = isInstalled ? null : await findSeen(call);
  if (isInstalled || (seen?.isComplete === true && seen.record.state !== "running")) sendNothing(call);
  else if (seen === null || seen.record.state === "running") return false;
  else await stream(call, seen.record);
  return true;
}

/**
 * Starts to pull a model, or joins its current pull, and sends the progress: as events until the pull ends if the client
 * accepts them, else the current state. An error within the first two seconds is an ordinary error response.
 */
async function followPull(context: AdminContext, request: Request, response: Response): Promise<void> {
  const catalogId = String(request.params["catalogId"]);
  const call: PullCall = { context, request, response, catalogId };
  if (acceptsEvents(call) && (await resume(call))) return;
  const asked = await context.operations.pullModel(context, principalOf(response), catalogId);
  if (asked.isInstalled) {
    sendInstalled(call, asked.pull);
    return;
  }
  const record = await awaitFirstProgress(call, asked.record);
  const error = errorOf(record);
  if (error !== null) throw error;
  if (acceptsEvents(call)) await stream(call, record);
  else send(response, record.state === "done" ? 200 : 202, context.operations.asModelPull(record));
}
