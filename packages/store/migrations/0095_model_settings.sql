-- Up Migration

-- The server with language models that is set in the console: {baseUrl, api, apiKey (sealed, or null), model}. NULL for
-- none. Environment variables take precedence.
ALTER TABLE installation ADD COLUMN model_settings jsonb;
