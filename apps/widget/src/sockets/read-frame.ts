import { VISITOR_FRAMES, WIDGET_FRAME_VERSION, clientMessageIdSchema, describeIssue } from "@svc/contracts";
import type { VisitorFrameData, VisitorFrameType } from "@svc/contracts";
import { isRecord } from "@svc/primitives";

/** A frame of a visitor that has passed its schema. */
export type VisitorFrame = {
  [Type in VisitorFrameType]: { type: Type; data: VisitorFrameData<Type> };
}[VisitorFrameType];

/** What is wrong with a frame: a code and words for its sender. */
export interface FrameFault {
  code: "invalid_request";
  detail: string;
  /** Of the message that the frame would have been; null for other frames. */
  clientMessageId: string | null;
}

function fault(detail: string, data?: unknown): { fault: FrameFault } {
  const id = clientMessageIdSchema.safeParse(isRecord(data) ? data["clientMessageId"] : null);
  return { fault: { code: "invalid_request", detail, clientMessageId: id.success ? id.data : null } };
}

function isVisitorType(type: unknown): type is VisitorFrameType {
  return typeof type === "string" && Object.hasOwn(VISITOR_FRAMES, type);
}

/** Reads what a visitor has sent, of which nothing is certain. Fields that are not known are ignored. Never throws. */
export function readFrame(sent: unknown): { frame: VisitorFrame } | { fault: FrameFault } {
  if (!isRecord(sent)) return fault("A frame must be a JSON object with type and data.");
  const { v = WIDGET_FRAME_VERSION, type, data = {} } = sent;
  if (v !== WIDGET_FRAME_VERSION)
    return fault(`This server supports version ${WIDGET_FRAME_VERSION} of the frame protocol.`);
  if (!isVisitorType(type)) {
    return fault(`Unknown frame type. Known types: ${Object.keys(VISITOR_FRAMES).join(", ")}.`);
  }
  const parsed = VISITOR_FRAMES[type].safeParse(data);
  if (parsed.success) return { frame: { type, data: parsed.data } as VisitorFrame };
  const [issue] = parsed.error.issues;
  if (issue === undefined) return fault("The frame is not valid.", data);
  const pointer = ["", "data", ...issue.path].map(String).join("/");
  return fault(`The frame is not valid: ${pointer} ${describeIssue(issue).detail}.`, data);
}
