-- Up Migration

-- Keeps a row as it is if an update raises its version without changing anything else, so that a change without effect
-- leaves the version that callers send in `If-Match`. Times that an update sets itself do not count as changes.
CREATE FUNCTION keep_unchanged_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own text[] := ARRAY['version', 'updated_at', 'purge_at', 'file_purge_at'];
BEGIN
  IF to_jsonb(NEW) - own = to_jsonb(OLD) - own THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;

-- In the order in which the version before locks these tables.
CREATE TRIGGER projects_kept BEFORE UPDATE ON projects
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER kbs_kept BEFORE UPDATE ON kbs
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER agents_kept BEFORE UPDATE ON agents
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER articles_kept BEFORE UPDATE ON articles
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER canned_replies_kept BEFORE UPDATE ON canned_replies
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER channels_config_kept BEFORE UPDATE ON channels_config
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER hooks_kept BEFORE UPDATE ON hooks
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER tags_kept BEFORE UPDATE ON tags
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
CREATE TRIGGER webhooks_kept BEFORE UPDATE ON webhooks
  FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION keep_unchanged_row();
