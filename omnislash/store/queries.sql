-- Every query of the state database, each under a name. `:name` is a parameter.

-- name: insert_job
INSERT INTO jobs (id, request, line, tool, role, heartbeat, actor, payload, created_at)
VALUES (:id, :request, :line, :tool, :role, :heartbeat, :actor, :payload, :created_at)
ON CONFLICT DO NOTHING;

-- name: find_job
SELECT * FROM jobs WHERE id = :id;

-- name: find_request
SELECT * FROM jobs WHERE request = :request;

-- name: queued_jobs
SELECT * FROM jobs WHERE state = 'queued' ORDER BY seq LIMIT :limit;

-- name: running_jobs
SELECT * FROM jobs WHERE state = 'running' ORDER BY seq;

-- name: count_open
SELECT count(*) AS jobs, min(created_at) AS oldest FROM jobs WHERE state <> 'done';

-- name: start_job
UPDATE jobs SET state = 'running', batch = :batch, verdict = :verdict WHERE id = :id;

-- name: requeue_job
UPDATE jobs SET state = 'queued', batch = NULL, verdict = NULL, resumed = :resumed
WHERE id = :id AND state = 'running';

-- name: finish_job
UPDATE jobs SET state = 'done', verdict = :verdict, payload = NULL, finished_at = :at WHERE id = :id;

-- name: insert_change
INSERT OR REPLACE INTO changes (batch, path, temp, hash_before, hash_after)
VALUES (:batch, :path, :temp, :hash_before, :hash_after);

-- name: list_changes
SELECT * FROM changes ORDER BY batch, path;

-- name: leave_changes
UPDATE changes SET batch = 'left:' || temp WHERE batch = :batch;

-- name: mark_copy
UPDATE changes SET batch = 'copy:' || temp WHERE batch = 'left:' || :temp;

-- name: drop_changes
DELETE FROM changes WHERE batch = :batch;

-- name: insert_audit
INSERT INTO audit (at, actor, role, heartbeat, tool, line, paths, outcome, chars, job)
VALUES (:at, :actor, :role, :heartbeat, :tool, :line, :paths, :outcome, :chars, :job);

-- name: list_audit
SELECT * FROM audit
WHERE (:before IS NULL OR id < :before)
  AND (:line IS NULL OR line = :line)
  AND (:path IS NULL OR EXISTS (SELECT 1 FROM json_each(audit.paths) WHERE json_each.value = :path))
ORDER BY id DESC LIMIT :limit;

-- name: insert_event
INSERT INTO events (at, name, payload) VALUES (:at, :name, :payload);

-- name: list_events
SELECT * FROM events WHERE id > :after ORDER BY id LIMIT :limit;

-- name: insert_approval
INSERT INTO approvals (id, at, role, heartbeat, line, tool, arguments, hash)
VALUES (:id, :at, :role, :heartbeat, :line, :tool, :arguments, :hash);

-- name: find_same_approval
SELECT * FROM approvals
WHERE state = 'open' AND role IS :role AND heartbeat IS :heartbeat AND arguments = :arguments AND hash = :hash;

-- name: list_approvals
SELECT * FROM approvals WHERE (:state IS NULL OR state = :state) ORDER BY at, id;

-- name: find_approval
SELECT * FROM approvals WHERE id = :id;

-- name: decide_approval
UPDATE approvals SET state = :state, decided_at = :at WHERE id = :id AND state = 'open';

-- name: settle_approval
UPDATE approvals SET
    state = :state,
    arguments = CASE WHEN :state = 'approved' THEN json_remove(arguments, '$.entry') ELSE arguments END
WHERE id = :id;

-- name: set_file
INSERT OR REPLACE INTO files (path, hash, at) VALUES (:path, :hash, :at);

-- name: find_file
SELECT * FROM files WHERE path = :path;

-- name: recent_files
SELECT * FROM files WHERE at >= :since ORDER BY path;

-- name: add_addition
INSERT INTO additions (path, text, at, own) VALUES (:path, :text, :at, :own);

-- name: list_additions
SELECT * FROM additions WHERE path = :path ORDER BY id DESC;

-- name: drop_additions
DELETE FROM additions WHERE path = :path;

-- name: drop_addition
DELETE FROM additions WHERE id = :id;

-- name: find_prunable
SELECT EXISTS (SELECT 1 FROM additions WHERE at < :watched)
    OR EXISTS (SELECT 1 FROM jobs WHERE state = 'done' AND finished_at < :kept)
    OR coalesce((SELECT at FROM events ORDER BY id LIMIT 1) < :kept, 0) AS prunable;

-- name: prune_additions
DELETE FROM additions WHERE at < :before;

-- name: prune_jobs
DELETE FROM jobs WHERE state = 'done' AND finished_at < :before;

-- name: prune_events
DELETE FROM events WHERE at < :before;
