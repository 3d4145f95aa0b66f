import { WIDGET_FRAME_VERSION, VISITOR_FRAMES, clientMessageIdSchema, describeIssue } from "@svc/contracts";
import type { ServerFrame, ServerFrameData, ServerFrameType, VisitorFrameData, VisitorFrameType } from "@svc/contracts";
import { isRecord } from "@svc/primitives";
import { newId } from "@svc/store";

/** Returns a frame for a visitor. One outside the sequence has `seq` 0, and one without an id gets a new one. */
export function makeFrame<Type extends ServerFrameType>(
  type: Type,
  data: ServerFrameData<Type>,
  { id = newId(), seq = 0 }: { id?: string; seq?: number } = {},
): ServerFrame {
  // Type and data belong together according to the signature, which a union cannot express.
  return { v: WIDGET_FRAME_VERSION, type, id, seq, ts: new Date().toISOString(), data } as ServerFrame;
}

/** A frame of a visitor that has passed its schema. */
export type VisitorFrame = {
  [Type in VisitorFrameType]: { type: Type; data: VisitorFrameData<Type> };
}[VisitorFrameType];

/** Error of a frame: a code and an explanation for its sender. */
export interface FrameError {
  code: "invalid_request";
  detail: string;
  /** Id of the message that the frame contained; null for other frames. */
  clientMessageId: string | null;
}

function error(detail: string, data?: unknown): { error: FrameError } {
  const id = clientMessageIdSchema.safeParse(isRecord(data) ? data["clientMessageId"] : null);
  return { error: { code: "invalid_request", detail, clientMessageId: id.success ? id.data : null } };
}

function isVisitorType(type: unknown): type is VisitorFrameType {
  return typeof type === "string" && Object.hasOwn(VISITOR_FRAMES, type);
}

/** Parses untrusted data of a visitor. Unknown fields are ignored. Never throws. */
export function readFrame(sent: unknown): { frame: VisitorFrame } | { error: FrameError } {
  if (!isRecord(sent)) return error("A frame must be a JSON object with type and data.");
  const { v = WIDGET_FRAME_VERSION, type, data = {} } = sent;
  if (v !== WIDGET_FRAME_VERSION)
    return error(`This server supports version ${WIDGET_FRAME_VERSION} of the frame protocol.`);
  if (!isVisitorType(type)) {
    return error(`Unknown frame type. Known types: ${Object.keys(VISITOR_FRAMES).join(", ")}.`);
  }
  const parsed = VISITOR_FRAMES[type].safeParse(data);
  if (parsed.success) return { frame: { type, data: parsed.data } as VisitorFrame };
  const [issue] = parsed.error.issues;
  if (issue === undefined) return error("The frame is not valid.", data);
  const pointer = ["", "data", ...issue.path].map(String).join("/");
  return error(`The frame is not valid: ${pointer} ${describeIssue(issue).detail}.`, data);
}
