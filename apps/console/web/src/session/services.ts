import { useQuery } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { createContext, useContext, useEffect, useRef } from "react";
import type { RequiredScope, Tag, TagColor } from "@svc/contracts";
import type { Connection, Live, Reach } from "../api/connection.ts";
import { actorOf, colleaguesQuery, mayDo, sessionQuery } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { tagsQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import type { Store } from "../ui/create-store.ts";
import type { Toasts } from "../ui/notice.tsx";
import type { CommandGroup, CommandRegistry, GroupCommand } from "./command-registry.ts";
import type { OpenTexts, Preferences } from "./preferences.ts";

/** Returns the name of the current project. */
export const useProject = (): string => useParams({ from: "/$project" }).project;

/** An operator to whom a ticket can be assigned. */
export interface Person {
  /** The actor in the API, such as `operator:…`. */
  actor: string;
  name: string;
  isMe: boolean;
  /** False for viewers, to whom no ticket can be assigned. */
  mayWrite: boolean;
}

/** The part of a browser's storage that is used. */
export type TextStorage = Pick<Storage, "getItem" | "setItem" | "removeItem"> & { keys: () => string[] };

/** Prefix of the keys of an operator's unsent texts; the ID of the ticket follows. */
export const unsentPrefixOf = (operatorId: string): string => `console.draft.${operatorId}.`;

/**
 * Opens the browser's storage, or if the browser blocks it a replacement until the page is closed. A full storage
 * ignores new values.
 */
export function openStorage(find: () => Storage): TextStorage {
  try {
    const storage = find();
    storage.getItem("");
    return {
      getItem: (key) => storage.getItem(key),
      setItem(key, value) {
        try {
          storage.setItem(key, value);
        } catch {
          // Full: typed text is still on the page.
        }
      },
      removeItem: (key) => storage.removeItem(key),
      keys: () => Object.keys(storage),
    };
  } catch {
    // Blocked by the browser's settings.
    const texts = new Map<string, string>();
    return {
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, value) => void texts.set(key, value),
      removeItem: (key) => void texts.delete(key),
      keys: () => [...texts.keys()],
    };
  }
}

/**
 * Name of this browser tab, with which the server distinguishes several tabs of one operator. Also works without a
 * secure context.
 */
export const TAB_NAME = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

/** Dependencies of the pages, created once in main.tsx. */
export interface Services {
  connection: Connection;
  live: Live;
  queryClient: QueryClient;
  reach: Store<Reach>;
  toasts: Toasts;
  commands: CommandRegistry;
  preferences: Store<Preferences>;
  storage: TextStorage;
  texts: OpenTexts;
}

export const ServicesContext = createContext<Services | null>(null);

/** Returns the dependencies of the pages. Throws outside of the app. */
export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("useServices is for components within the app.");
  return services;
}

/** Returns the session. For components within the shell, which requires one. */
export function useSession(): Session {
  const { connection } = useServices();
  const { data } = useQuery(sessionQuery(connection));
  if (data === null || data === undefined) throw new Error("useSession is for pages of those who are signed in.");
  return data;
}

/** Returns the permission check for the current project. */
export function useRights(): (scope: RequiredScope) => boolean {
  const session = useSession();
  const project = useProject();
  return (scope) => mayDo(session, project, scope);
}

/** Returns the project's operators, the signed-in one first, and the names of actors. */
export function usePeople(): { people: Person[]; nameOf: (actor: string) => string; me: string } {
  const { connection } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const { t } = useTexts();
  const { data: colleagues = [] } = useQuery(colleaguesQuery(connection, project));
  const me = actorOf(operator.id);
  const others = colleagues
    .filter(({ id }) => id !== operator.id)
    .map(({ id, mayWrite, name }) => ({ actor: actorOf(id), name, isMe: false, mayWrite }));
  const people = [{ actor: me, name: operator.name, isMe: true, mayWrite: true }, ...others];
  const names = new Map(people.map(({ actor, name }) => [actor, name]));
  return {
    people,
    me,
    nameOf(actor) {
      const name = names.get(actor);
      if (name !== undefined) return name;
      if (actor.startsWith("operator:")) return t("people.someone");
      if (actor.startsWith("key:")) return t("people.key");
      return actor === "pipeline" ? t("people.pipeline") : actor;
    },
  };
}

/** Adds commands of one group while the component is mounted; false for a command that is not available now. */
export function useCommands(group: CommandGroup, commands: readonly (GroupCommand | false)[]): void {
  const { commands: registry } = useServices();
  const current = useRef(commands);
  useEffect(() => {
    current.current = commands;
  });
  useEffect(
    () => registry.add(() => current.current.flatMap((command) => (command === false ? [] : { ...command, group }))),
    [group, registry],
  );
}

const NO_TAGS: readonly Tag[] = [];

/** Returns the managed tags of the current project; empty until they are loaded. */
export function useTags(): readonly Tag[] {
  const { connection } = useServices();
  return useQuery(tagsQuery(connection, useProject())).data ?? NO_TAGS;
}

/**
 * Returns a function that finds the color of a ticket's tag by its name; undefined for an unmanaged tag, and for
 * tickets of other projects.
 */
export function useTagColor(): (name: string, ofProject: string) => TagColor | undefined {
  const project = useProject();
  const colors = new Map(useTags().map(({ color, name }) => [name, color]));
  return (name, ofProject) => (ofProject === project ? colors.get(name) : undefined);
}
