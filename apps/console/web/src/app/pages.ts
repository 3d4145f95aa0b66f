import type { RequiredScope } from "@svc/contracts";
import { BookOpen, Bot, ChartColumn, Inbox, Plug, ShieldCheck, Users } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { linkOptions } from "@tanstack/react-router";
import type { LinkOptions } from "@tanstack/react-router";
import { SECTIONS } from "../administration/sections.ts";
import type { TextKey } from "../i18n/texts.ts";

/** A page in the navigation. */
export interface Page {
  id: string;
  title: TextKey;
  icon: LucideIcon;
  /** Its route in router.tsx. */
  link: (project: string) => LinkOptions;
  keys: string;
  /** It is shown to those who are allowed one of these. */
  scopes: readonly RequiredScope[];
  /** True for those that stand in the bar of a phone; the others are under "More" there. */
  isInBar?: true;
}

/** The pages of the navigation, in order. The router contains them, and their subpages. */
export const PAGES: readonly Page[] = [
  {
    id: "inbox",
    title: "nav.inbox",
    icon: Inbox,
    link: (project) => linkOptions({ to: "/$project/inbox/$view", params: { project, view: "review" } }),
    keys: "g i",
    scopes: ["tickets:read"],
    isInBar: true,
  },
  {
    id: "customers",
    title: "nav.customers",
    icon: Users,
    link: (project) => linkOptions({ to: "/$project/customers", params: { project } }),
    keys: "g c",
    scopes: ["tickets:read"],
  },
  {
    id: "knowledge",
    title: "nav.knowledge",
    icon: BookOpen,
    link: (project) => linkOptions({ to: "/$project/knowledge", params: { project } }),
    keys: "g k",
    scopes: ["kb:read"],
    isInBar: true,
  },
  {
    id: "agents",
    title: "nav.agents",
    icon: Bot,
    link: (project) => linkOptions({ to: "/$project/agents", params: { project } }),
    keys: "g a",
    scopes: ["agents:read"],
    isInBar: true,
  },
  {
    id: "integrations",
    title: "nav.integrations",
    icon: Plug,
    link: (project) => linkOptions({ to: "/$project/integrations", params: { project } }),
    keys: "g t",
    scopes: ["channels:read"],
  },
  {
    id: "overview",
    title: "nav.overview",
    icon: ChartColumn,
    link: (project) => linkOptions({ to: "/$project/overview", params: { project } }),
    keys: "g o",
    scopes: ["tickets:read"],
    isInBar: true,
  },
  {
    id: "administration",
    title: "nav.administration",
    icon: ShieldCheck,
    link: (project) => linkOptions({ to: "/$project/administration", params: { project } }),
    keys: "g s",
    scopes: SECTIONS.map(({ scope }) => scope),
  },
];
