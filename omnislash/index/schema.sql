-- The search index: derived from the markdown, and nothing is lost with it.
-- It holds no text of a note: only where each note stands, hashes of its terms, and its vector.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row a file. `notes` and `words` are packed arrays (see packing.py); `checksum` is their CRC-32.
-- `id` comes from the counter in `meta` and changes whenever the row does: who has seen the counter at n has seen every
-- row up to n, and no id ever means another file or other notes.
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    place TEXT NOT NULL UNIQUE,          -- path from the brain's directory
    kind TEXT NOT NULL,                  -- memory, daily, week, month, quarter, year, document, source
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    hash BLOB NOT NULL,                  -- SHA-256 of the file's bytes
    problems TEXT NOT NULL,              -- JSON: [[message, line], …]
    pending INTEGER NOT NULL,            -- notes that wait for their vector
    notes BLOB NOT NULL,
    words BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX files_pending ON files (id) WHERE pending > 0;

-- Rows that are gone, with the counter at that moment, so that a process that has them in memory hears of it.
CREATE TABLE removals (
    file INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
);
CREATE INDEX removals_by_time ON removals (at);

CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity TEXT NOT NULL UNIQUE,       -- of the embedder that made the vectors
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL
);

-- Vectors in segments: row r of a model is slot r % SEGMENT_ROWS of segment r // SEGMENT_ROWS.
CREATE TABLE segments (
    model INTEGER NOT NULL,
    number INTEGER NOT NULL,
    length INTEGER NOT NULL,
    checksum INTEGER NOT NULL,           -- before the blob: what stands behind one is read through it
    vectors BLOB NOT NULL,               -- float32, little-endian
    PRIMARY KEY (model, number)
);

-- The embedding cache: which row of a model holds the vector of a text.
CREATE TABLE embeddings (
    model INTEGER NOT NULL,
    text_hash BLOB NOT NULL,             -- first 16 bytes of the SHA-256
    row INTEGER NOT NULL,
    PRIMARY KEY (model, text_hash)
) WITHOUT ROWID;
