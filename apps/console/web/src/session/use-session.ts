import type { RequiredScope } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { mayDo, sessionQuery, colleaguesQuery, actorOf } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "./services.ts";

/** Who is signed in. For components within the shell, which is shown to nobody else. */
export function useSession(): Session {
  const { connection } = useServices();
  const { data } = useQuery(sessionQuery(connection));
  if (data === null || data === undefined) throw new Error("useSession is for pages of those who are signed in.");
  return data;
}

/** Name of the project that is worked on. */
export const useProject = (): string => useParams({ from: "/$project" }).project;

/** Tells what may be done in the project that is worked on. */
export function useRights(): (scope: RequiredScope) => boolean {
  const session = useSession();
  const project = useProject();
  return (scope) => mayDo(session, project, scope);
}

/** Somebody whom a ticket can be given to. */
export interface Person {
  /** What the server calls them, as in `operator:…`. */
  actor: string;
  name: string;
  isMe: boolean;
  /** False for viewers, to whom no ticket can be assigned. */
  mayWrite: boolean;
}

/** Who works in the project, oneself first, and the names of those who did something. */
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
