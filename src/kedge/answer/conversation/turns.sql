-- What was said in conversations, in a SQLite file of its own.

-- name: forget_for_good
-- What is deleted is overwritten, not only hidden.
PRAGMA secure_delete = ON

-- name: create
CREATE TABLE IF NOT EXISTS turns (
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  session TEXT NOT NULL,
  used REAL NOT NULL,
  said TEXT NOT NULL
)

-- name: last
-- All of one conversation, oldest first.
SELECT said FROM turns WHERE tenant = ? AND session = ? ORDER BY id

-- name: add
INSERT INTO turns (tenant, session, used, said) VALUES (?, ?, ?, ?)

-- name: touch
-- A conversation that goes on keeps its earlier turns as long as its last one.
UPDATE turns SET used = ? WHERE tenant = ? AND session = ?

-- name: keep_last
DELETE FROM turns
WHERE tenant = ? AND session = ?
  AND id NOT IN (SELECT id FROM turns WHERE tenant = ? AND session = ? ORDER BY id DESC LIMIT ?)

-- name: forget
-- Of whoever uses a session of that name, which the user's follows.
DELETE FROM turns WHERE tenant = ? AND instr(session, ?) = 1

-- name: forget_old
DELETE FROM turns WHERE used <= ?
