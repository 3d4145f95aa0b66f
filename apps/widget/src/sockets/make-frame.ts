import { WIDGET_FRAME_VERSION } from "@svc/contracts";
import type { ServerFrame, ServerFrameData, ServerFrameType } from "@svc/contracts";
import { newId } from "@svc/store";

/** A frame for a visitor. What has no place in the chat has `seq` 0, and what has no id of its own is given one. */
export function makeFrame<Type extends ServerFrameType>(
  type: Type,
  data: ServerFrameData<Type>,
  { id = newId(), seq = 0 }: { id?: string; seq?: number } = {},
): ServerFrame {
  // The type and its data belong together by the signature, which a union cannot express.
  return { v: WIDGET_FRAME_VERSION, type, id, seq, ts: new Date().toISOString(), data } as ServerFrame;
}
