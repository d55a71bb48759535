// Constraints and indexes. What is in braces are names of `schema.RULES`.

// name: show_indexes
SHOW INDEXES YIELD name, labelsOrTypes, properties, state
WHERE labelsOrTypes IS NOT NULL

// name: await_indexes
CALL db.awaitIndexes($seconds)

// name: make_unique
CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{of}) REQUIRE ({fields}) IS UNIQUE

// name: make_range
CREATE INDEX {name} IF NOT EXISTS FOR (n:{of}) ON ({fields})

// name: make_edge
CREATE INDEX {name} IF NOT EXISTS FOR ()-[n:{of}]-() ON ({fields})

// name: make_words
// Words come as lists that Kedge made, so the server only parts them.
CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:{of}) ON EACH [{fields}]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
