import { Globe, Mail, MessageCircle, Phone, Send } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ChannelDescriptor } from "@svc/contracts";

/** Icons of channels, by the names in their descriptors. */
export const CHANNEL_ICONS = {
  globe: Globe,
  mail: Mail,
  "message-circle": MessageCircle,
  phone: Phone,
  send: Send,
} as const satisfies Record<ChannelDescriptor["icon"], LucideIcon>;
