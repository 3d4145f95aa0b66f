import { useQuery } from "@tanstack/react-query";
import type { Tag, TagColor } from "@svc/contracts";
import { tagsQuery } from "../api/tickets.ts";
import { useProject, useServices } from "../session/services.ts";

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
