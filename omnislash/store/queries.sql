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

-- name: count_open_by_line
SELECT line, count(*) AS jobs, sum(state = 'running') AS running, min(created_at) AS oldest
FROM jobs WHERE state <> 'done' GROUP BY line ORDER BY line;

-- name: list_open_jobs
SELECT id, line, tool, role, heartbeat, actor, created_at, state FROM jobs
WHERE state <> 'done' ORDER BY seq LIMIT :limit;

-- name: list_done_jobs
SELECT id, line, tool, role, heartbeat, actor, finished_at, verdict FROM jobs
WHERE state = 'done' ORDER BY finished_at DESC, seq DESC LIMIT :limit;

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
-- The path is looked for as text first: most rows are ruled out by that, and reading JSON takes longer.
SELECT * FROM audit
WHERE (:before IS NULL OR id < :before)
  AND (:path IS NULL OR instr(paths, json_quote(:path))
    AND EXISTS (SELECT 1 FROM json_each(audit.paths) WHERE json_each.value = :path))
ORDER BY id DESC LIMIT :limit;

-- name: list_line_audit
SELECT * FROM audit
WHERE line = :line AND (:before IS NULL OR id < :before)
  AND (:path IS NULL OR instr(paths, json_quote(:path))
    AND EXISTS (SELECT 1 FROM json_each(audit.paths) WHERE json_each.value = :path))
ORDER BY id DESC LIMIT :limit;

-- name: find_last_write
SELECT * FROM audit
WHERE line = :line AND outcome IN ('written', 'partial') AND instr(paths, :quoted) > 0
  AND EXISTS (SELECT 1 FROM json_each(audit.paths) WHERE json_each.value = :path)
ORDER BY id DESC LIMIT 1;

-- name: insert_event
INSERT INTO events (at, name, payload, heartbeat) VALUES (:at, :name, :payload, :heartbeat);

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

-- name: list_decided_approvals
SELECT * FROM approvals WHERE state <> 'open' ORDER BY decided_at DESC, id LIMIT :limit;

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

-- name: open_session
INSERT INTO sessions (id, role, started_at, used_at) VALUES (:id, :role, :at, :at)
ON CONFLICT (id) DO UPDATE SET used_at = :at;

-- name: find_session
SELECT * FROM sessions WHERE id = :id;

-- name: list_sessions
SELECT s.*, s.removed + (SELECT count(*) FROM session_turns t WHERE t.session = s.id) AS turns
FROM sessions s WHERE (:role IS NULL OR s.role = :role) ORDER BY s.used_at DESC, s.id LIMIT :limit;

-- name: view_session
SELECT s.*, s.removed + (SELECT count(*) FROM session_turns t WHERE t.session = s.id) AS turns
FROM sessions s WHERE s.id = :id;

-- name: touch_session
UPDATE sessions SET used_at = :at WHERE id = :id;

-- name: shorten_session
UPDATE sessions SET first_turn = max(first_turn, :first), most_bytes = NULL WHERE id = :id;

-- name: bound_session
UPDATE sessions SET most_bytes = :bytes WHERE id = :id;

-- name: count_removed_turns
UPDATE sessions SET removed = removed + :turns WHERE id = :id;

-- name: mark_compacted
UPDATE sessions SET compacted = compacted + 1 WHERE id = :id;

-- name: answer_compaction
UPDATE sessions SET reopened = max(reopened, :compaction) WHERE id = :id;

-- name: find_session_used
SELECT id FROM sessions WHERE used_at BETWEEN :since AND :until LIMIT 1;

-- name: list_unused_sessions
SELECT id FROM sessions WHERE used_at < :before ORDER BY used_at LIMIT :limit;

-- name: drop_session
DELETE FROM sessions WHERE id = :id;

-- name: list_session_blocks
SELECT * FROM session_blocks WHERE session = :session AND carrier = :carrier ORDER BY name, place;

-- name: set_session_block
INSERT OR REPLACE INTO session_blocks (session, carrier, name, place, hash, at)
VALUES (:session, :carrier, :name, :place, :hash, :at);

-- name: drop_session_block
DELETE FROM session_blocks
WHERE session = :session AND carrier = :carrier AND name = :name AND place = :place;

-- name: clear_carrier_blocks
DELETE FROM session_blocks WHERE session = :session AND carrier = :carrier;

-- name: clear_session_blocks
DELETE FROM session_blocks WHERE session = :session;

-- name: add_session_turn
INSERT INTO session_turns (session, at, messages, size)
VALUES (:session, :at, :messages, length(CAST(:messages AS BLOB)));

-- name: list_turn_sizes
SELECT id, size FROM session_turns WHERE session = :session AND id >= :first ORDER BY id;

-- name: list_session_turns
SELECT * FROM session_turns WHERE session = :session AND id >= :first ORDER BY id;

-- name: drop_session_turns
DELETE FROM session_turns WHERE session = :session AND id <= :until;

-- name: find_beat_look
SELECT * FROM beats WHERE id = :id;

-- name: list_beat_looks
SELECT * FROM beats ORDER BY id;

-- name: set_beat_look
INSERT OR REPLACE INTO beats (id, schedule, timezone, looked_at) VALUES (:id, :schedule, :timezone, :looked_at);

-- name: drop_beat_look
DELETE FROM beats WHERE id = :id;

-- name: start_run
INSERT INTO runs (key, kind, beat, role, line, due_at, started_at, session)
VALUES (:key, :kind, :beat, :role, :line, :due_at, :started_at, :session)
ON CONFLICT DO NOTHING;

-- name: finish_run
UPDATE runs SET outcome = :outcome, message = :message, finished_at = :at WHERE key = :key AND outcome = 'running';

-- name: find_run
SELECT * FROM runs WHERE key = :key;

-- name: open_runs
SELECT * FROM runs WHERE outcome = 'running' ORDER BY started_at, key;

-- name: last_run
SELECT * FROM runs WHERE beat = :beat AND kind = :kind ORDER BY due_at DESC, started_at DESC LIMIT 1;

-- name: list_runs
SELECT * FROM runs WHERE beat = :beat ORDER BY due_at DESC, started_at DESC LIMIT :limit;

-- name: count_runs_due
SELECT count(*) AS runs FROM runs
WHERE kind = :kind AND beat = :beat AND due_at > :after AND due_at <= :until AND outcome <> 'missed';

-- name: count_runs_started
SELECT count(*) AS runs, min(started_at) AS oldest FROM runs
WHERE kind = :kind AND beat = :beat AND started_at > :after AND started_at <= :until AND outcome <> 'skipped';

-- name: prune_runs
DELETE FROM runs
WHERE outcome <> 'running' AND started_at < :before AND EXISTS (
    SELECT 1 FROM runs AS later
    WHERE later.beat = runs.beat AND later.kind = runs.kind AND later.due_at > runs.due_at
);

-- name: find_cursor
SELECT * FROM cursors WHERE name = :name;

-- name: set_cursor
INSERT OR REPLACE INTO cursors (name, value) VALUES (:name, :value);

-- name: set_flush_mark
INSERT OR REPLACE INTO cursors (name, value, used_at, tried) VALUES (:name, :value, :at, :tried);

-- name: date_flush_marks
UPDATE cursors SET used_at = :at WHERE used_at IS NULL AND name GLOB 'flush:*';

-- name: prune_flush_marks
DELETE FROM cursors WHERE used_at < :before AND name GLOB 'flush:*';

-- name: request_flush
INSERT INTO flush_requests (role, heartbeat, transcript, ended, asked_at)
SELECT :role, :heartbeat, :transcript, max(:ended, coalesce((
    SELECT ended FROM flush_requests WHERE role = :role AND heartbeat = :heartbeat AND transcript = :transcript
), 0)), :at WHERE true
ON CONFLICT (role, heartbeat, transcript) DO UPDATE SET
    seq = (SELECT max(seq) FROM flush_requests) + 1, ended = excluded.ended, asked_at = excluded.asked_at, tries = 0;

-- name: next_flush_request
SELECT * FROM flush_requests ORDER BY tries, seq LIMIT 1;

-- name: list_flush_requests
SELECT * FROM flush_requests ORDER BY seq;

-- name: begin_flush_request
UPDATE flush_requests SET tries = tries + 1 WHERE seq = :seq;

-- name: put_back_flush_request
UPDATE flush_requests SET tries = tries - 1 WHERE seq = :seq;

-- name: drop_flush_request
DELETE FROM flush_requests WHERE seq = :seq;

-- name: list_cursors
SELECT * FROM cursors ORDER BY name;

-- name: drop_cursor
DELETE FROM cursors WHERE name = :name;

-- name: newest_event
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS id;

-- name: insert_sync
INSERT INTO syncs (at, outcome, message, head, audit) VALUES (:at, :outcome, :message, :head, :audit);

-- name: last_sync
SELECT * FROM syncs ORDER BY id DESC LIMIT 1;

-- name: prune_syncs
DELETE FROM syncs WHERE id <= (SELECT max(id) FROM syncs) - 1000;

-- name: set_told
INSERT INTO told (path, audit) VALUES (:path, :audit) ON CONFLICT (path) DO UPDATE SET audit = excluded.audit;

-- name: list_told
SELECT path, audit FROM told;

-- name: drop_told
DELETE FROM told WHERE audit <= :audit;

-- name: audit_after
SELECT * FROM audit WHERE id > :after ORDER BY id;

-- name: newest_audit
SELECT coalesce(max(id), 0) AS id FROM audit;
