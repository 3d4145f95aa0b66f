import {
  ServiceError,
  TAG_LIMITS,
  checkInput,
  invalidInput,
  tagChangeSchema,
  tagInputSchema,
  tagMergeSchema,
} from "@svc/contracts";
import type { Tag } from "@svc/contracts";
import type { TagRecord } from "@svc/store";
import { nameTaken, operation, readPage, staleVersion, objectReader, notInProject } from "./operation.ts";

const asItem = (record: TagRecord): Tag => ({
  ...record,
  createdAt: record.createdAt.toISOString(),
  updatedAt: record.updatedAt.toISOString(),
});

const readTag = objectReader("managed tag", ({ tags }) => tags.find);

/** Returns a page of the managed tags of the principal's project, newest first. */
export const listTags = operation("listTags", async ({ store }, principal, input) =>
  readPage("tags", input, { read: (query) => store.tags.listPage(principal.project, query), asItem }),
);

/** Returns the managed tag with this ID in the principal's project. */
export const getTag = operation("getTag", async ({ store }, principal, id) =>
  asItem(await readTag(store, principal, id)),
);

/**
 * Creates a managed tag; tickets with a tag of this name use it from then on. Throws invalid_request for a name in use,
 * ignoring case, and if the project has the maximum number of tags.
 */
export const createTag = operation(
  "createTag",
  async ({ store }, { project }, input) => {
    const fields = checkInput(tagInputSchema, input, "The tag");
    if ((await store.tags.count(project)) >= TAG_LIMITS.maxCount) {
      throw new ServiceError(
        "invalid_request",
        `This project has ${TAG_LIMITS.maxCount} managed tags, which is the limit. Merge or delete some first.`,
      );
    }
    const record = await store.tags.insert(project, fields);
    if (record === null) throw nameTaken("tag", fields.name);
    return asItem(record);
  },
  { audit: "tags.create" },
);

/**
 * Changes the given fields if the tag has one of the expected versions. A new name replaces the former one wherever it
 * is used: on up to 500 tickets before this returns, and on others by the pipeline. Throws invalid_request like
 * `createTag`.
 */
export const updateTag = operation(
  "updateTag",
  async ({ store }, principal, { id, versions = null }, input) => {
    const fields = checkInput(tagChangeSchema, input, "The tag");
    const before = await readTag(store, principal, id);
    const { project, actor } = principal;
    const { result, record } = await store.tags.update(project, { id: before.id, versions }, { fields, actor });
    if (record === null) throw notInProject("managed tag");
    if (result === "taken") throw nameTaken("tag", fields.name ?? "");
    if (result === "stale") throw staleVersion("The tag", record.version);
    if (record.name !== before.name) await store.tags.carryOutChanges();
    return asItem(record);
  },
  { audit: "tags.update" },
);

/**
 * Deletes a managed tag if it has one of the expected versions, removes it from tickets as `updateTag` renames it, and
 * returns it.
 */
export const deleteTag = operation(
  "deleteTag",
  async ({ store }, principal, { id, versions = null }) => {
    const { project, actor } = principal;
    const before = await readTag(store, principal, id);
    const { result, record } = await store.tags.remove(project, { id: before.id, versions }, actor);
    if (record === null) throw notInProject("managed tag");
    if (result === "stale") throw staleVersion("The tag", record.version);
    await store.tags.carryOutChanges();
    return asItem(record);
  },
  { audit: "tags.delete" },
);

/**
 * Merges another managed tag of the project into this one, on tickets as `updateTag` renames it. Cannot be undone.
 * Throws invalid_request if the other tag is not in the project, or is the same one.
 */
export const mergeTag = operation(
  "mergeTag",
  async ({ store }, principal, id, input) => {
    const { tagId } = checkInput(tagMergeSchema, input, "The merge");
    const into = await readTag(store, principal, id);
    const fromId = tagId.toLowerCase();
    const invalid = (code: string, detail: string) => invalidInput([{ pointer: "/tagId", code, detail }], "The merge");
    if (into.id === fromId) throw invalid("same", "is this tag");
    const { project, actor } = principal;
    const merged = await store.tags.merge(project, { intoId: into.id, fromId }, actor);
    if (merged === null) throw invalid("not_found", "is not the ID of a managed tag in this project");
    await store.tags.carryOutChanges();
    return asItem(merged);
  },
  { audit: "tags.merge" },
);
