-- What the store says to sqlite, compiled from storage/statements/. Do not edit: `make docs` writes it.

-- migrations.create_tables ()
CREATE TABLE schema_version (
    version INTEGER NOT NULL
);

CREATE TABLE runs (
    id INTEGER NOT NULL,
    started_at DOUBLE NOT NULL,
    ended_at DOUBLE,
    settings TEXT NOT NULL,
    version TEXT NOT NULL,
    outcome TEXT,
    counts TEXT,
    PRIMARY KEY (id)
);

CREATE TABLE sites (
    id INTEGER NOT NULL,
    scheme TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    in_scope BOOLEAN NOT NULL,
    addresses TEXT DEFAULT '' NOT NULL,
    addresses_expire DOUBLE DEFAULT 0 NOT NULL,
    robots_status TEXT,
    robots_text BLOB,
    robots_fetched_at DOUBLE DEFAULT 0 NOT NULL,
    robots_expires_at DOUBLE DEFAULT 0 NOT NULL,
    robots_detail TEXT DEFAULT '' NOT NULL,
    robots_failing_since DOUBLE DEFAULT 0 NOT NULL,
    robots_delay DOUBLE DEFAULT 0 NOT NULL,
    errand_until DOUBLE DEFAULT 0 NOT NULL,
    augmentation BLOB,
    guards BLOB,
    not_before DOUBLE DEFAULT 0 NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    reason TEXT,
    due_at DOUBLE,
    again_at DOUBLE,
    visit BIGINT,
    visit_address TEXT DEFAULT '' NOT NULL,
    urls BIGINT DEFAULT 0 NOT NULL,
    pages BIGINT DEFAULT 0 NOT NULL,
    bytes BIGINT DEFAULT 0 NOT NULL,
    requests BIGINT DEFAULT 0 NOT NULL,
    lastmod_trust INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (host, scheme, port)
);

CREATE INDEX sites_again ON sites (again_at, not_before) WHERE visit IS NULL AND again_at IS NOT NULL;

CREATE INDEX sites_due ON sites (due_at) WHERE visit IS NULL AND due_at IS NOT NULL;

CREATE INDEX sites_visited ON sites (visit) WHERE visit IS NOT NULL;

CREATE TABLE seeds (
    url TEXT NOT NULL,
    site_id BIGINT NOT NULL,
    via TEXT,
    first_seen DOUBLE NOT NULL,
    PRIMARY KEY (url)
);

CREATE TABLE urls (
    site_id BIGINT NOT NULL,
    "key" BIGINT NOT NULL,
    path TEXT NOT NULL,
    state SMALLINT NOT NULL,
    reason TEXT,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    seed BOOLEAN DEFAULT false NOT NULL,
    priority INTEGER NOT NULL,
    first_seen DOUBLE NOT NULL,
    due_at DOUBLE,
    tries INTEGER DEFAULT 0 NOT NULL,
    status INTEGER,
    checked_at DOUBLE,
    etag TEXT DEFAULT '' NOT NULL,
    modified TEXT DEFAULT '' NOT NULL,
    document_id BIGINT,
    fetch_id BIGINT,
    checks INTEGER DEFAULT 0 NOT NULL,
    changes INTEGER DEFAULT 0 NOT NULL,
    changed_at DOUBLE,
    confirmed_at DOUBLE,
    change_weight DOUBLE,
    change_span DOUBLE,
    change_restless DOUBLE,
    lastmod DOUBLE,
    lastmod_read DOUBLE,
    detail TEXT,
    PRIMARY KEY (site_id, "key")
)
 WITHOUT ROWID;

CREATE INDEX urls_known ON urls (site_id, priority, due_at, "key") WHERE state = 0;

CREATE INDEX urls_rest ON urls (site_id, state, due_at, "key") WHERE state != 0 AND due_at IS NOT NULL;

CREATE TABLE documents (
    id INTEGER NOT NULL,
    df BIGINT NOT NULL,
    sha256 BLOB NOT NULL,
    length BIGINT NOT NULL,
    media_type TEXT DEFAULT '' NOT NULL,
    charset TEXT DEFAULT '' NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    language TEXT DEFAULT '' NOT NULL,
    similarity BIGINT,
    body BLOB NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX documents_df ON documents (df, sha256);

CREATE TABLE fetches (
    id INTEGER NOT NULL,
    site_id BIGINT NOT NULL,
    "key" BIGINT NOT NULL,
    at DOUBLE NOT NULL,
    status INTEGER NOT NULL,
    address TEXT NOT NULL,
    headers BLOB NOT NULL,
    redirect TEXT,
    document_id BIGINT,
    sha256 BLOB,
    length BIGINT,
    PRIMARY KEY (id)
);

CREATE INDEX fetches_of_url ON fetches (site_id, "key", id);

CREATE INDEX ix_fetches_document_id ON fetches (document_id);

CREATE TABLE volatile (
    fetch_id BIGINT NOT NULL,
    region INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    content BLOB NOT NULL,
    id TEXT DEFAULT '' NOT NULL,
    length BIGINT,
    PRIMARY KEY (fetch_id, region)
);

CREATE TABLE tvis (
    fetch_id INTEGER NOT NULL,
    etag TEXT DEFAULT '' NOT NULL,
    modified TEXT DEFAULT '' NOT NULL,
    refresh BIGINT DEFAULT 0 NOT NULL,
    merges INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (fetch_id)
);

CREATE TABLE learned (
    fetch_id INTEGER NOT NULL,
    skeleton_sha256 BLOB NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (fetch_id)
);

CREATE TABLE links (
    document_id INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (document_id)
);

CREATE TABLE summaries (
    document_id INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (document_id)
);

CREATE TABLE pauses (
    subject TEXT NOT NULL,
    not_before DOUBLE NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (subject)
)
 WITHOUT ROWID;

CREATE TABLE errands (
    asker INTEGER NOT NULL,
    site_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    hops INTEGER NOT NULL,
    asked_at DOUBLE NOT NULL,
    PRIMARY KEY (asker)
);

CREATE INDEX ix_errands_site_id ON errands (site_id);

-- migrations.our_tables ()
SELECT sqlite_master.name
FROM sqlite_master
WHERE sqlite_master.type = 'table' AND sqlite_master.name IN ('documents', 'errands', 'fetches', 'learned', 'links', 'pauses', 'runs', 'schema_version', 'seeds', 'sites', 'summaries', 'tvis', 'urls', 'volatile') ORDER BY sqlite_master.name;

-- migrations.version ()
SELECT schema_version.version
FROM schema_version;

-- migrations.insert_version (version)
INSERT INTO schema_version (version) VALUES (?);

-- migrations.update_version (new)
UPDATE schema_version SET version=?;

-- writer.last_of_documents ()
SELECT max(documents.id) AS max_1
FROM documents;

-- writer.last_of_fetches ()
SELECT max(fetches.id) AS max_1
FROM fetches;

-- writer.last_of_runs ()
SELECT max(runs.id) AS max_1
FROM runs;

-- writer.last_of_sites ()
SELECT max(sites.id) AS max_1
FROM sites;

-- site_rows.by_hosts (hosts)
SELECT sites.id, sites.scheme, sites.host, sites.port, sites.in_scope
FROM sites
WHERE sites.host IN (SELECT each_hosts.value
FROM json_each(?) AS each_hosts);

-- site_rows.insert (id, scheme, host, port, in_scope)
INSERT INTO sites (id, scheme, host, port, in_scope) VALUES (?, ?, ?, ?, ?);

-- site_rows.page (after, most)
SELECT sites.id, sites.scheme, sites.host, sites.port, sites.in_scope
FROM sites
WHERE sites.id > ? ORDER BY sites.id
 LIMIT ? OFFSET 0;

-- site_rows.count (more, site)
UPDATE sites SET urls=(sites.urls + ?) WHERE sites.id = ?;

-- site_rows.of_seeds ()
SELECT sites.scheme, sites.host, sites.port
FROM sites
WHERE sites.id IN (SELECT seeds.site_id
FROM seeds);

-- site_rows.set_scope (inside, site)
UPDATE sites SET in_scope=? WHERE sites.id = ?;

-- site_rows.readmit (now, ids, max_depth, max_hops)
UPDATE urls SET state=0, reason=NULL, due_at=?, tries=0 WHERE urls.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) AND urls.state = 3 AND urls.reason = 'scope' AND urls.depth <= ? AND urls.hops <= ?;

-- site_rows.refuse_deep (ids, max_depth)
UPDATE urls SET reason='depth' WHERE urls.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) AND urls.state = 3 AND urls.reason = 'scope' AND urls.depth > ?;

-- site_rows.refuse_far (ids)
UPDATE urls SET reason='redirects' WHERE urls.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) AND urls.state = 3 AND urls.reason = 'scope';

-- site_rows.expel (ids)
UPDATE urls SET state=3, reason='scope', due_at=NULL WHERE urls.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) AND urls.state IN (0, 2);

-- site_rows.wake (now, now, site, now, now)
UPDATE sites SET due_at=CASE WHEN (? > CASE WHEN (sites.not_before > sites.errand_until) THEN sites.not_before ELSE sites.errand_until END) THEN ? ELSE CASE WHEN (sites.not_before > sites.errand_until) THEN sites.not_before ELSE sites.errand_until END END WHERE sites.id = ? AND sites.visit IS NULL AND sites.in_scope IS 1 AND (sites.due_at IS NULL OR sites.due_at > CASE WHEN (? > CASE WHEN (sites.not_before > sites.errand_until) THEN sites.not_before ELSE sites.errand_until END) THEN ? ELSE CASE WHEN (sites.not_before > sites.errand_until) THEN sites.not_before ELSE sites.errand_until END END);

-- site_rows.dues (ids)
SELECT sites.id, sites.in_scope, sites.not_before, sites.errand_until, (SELECT urls.due_at
FROM urls
WHERE urls.site_id = sites.id AND urls.state = 0 ORDER BY urls.priority, urls.due_at, urls."key"
 LIMIT 1 OFFSET 0) AS known, (SELECT urls.due_at
FROM urls
WHERE urls.site_id = sites.id AND urls.state != 0 AND urls.state = 2 AND urls.due_at IS NOT NULL ORDER BY urls.due_at
 LIMIT 1 OFFSET 0) AS failed, (SELECT urls.due_at
FROM urls
WHERE urls.site_id = sites.id AND urls.state != 0 AND urls.state = 1 AND urls.due_at IS NOT NULL ORDER BY urls.due_at
 LIMIT 1 OFFSET 0) AS stored, (SELECT urls.due_at
FROM urls
WHERE urls.site_id = sites.id AND urls.state != 0 AND urls.state = 3 AND urls.due_at IS NOT NULL ORDER BY urls.due_at
 LIMIT 1 OFFSET 0) AS refused, (SELECT urls.due_at
FROM urls
WHERE urls.site_id = sites.id AND urls.state != 0 AND urls.state = 4 AND urls.due_at IS NOT NULL ORDER BY urls.due_at
 LIMIT 1 OFFSET 0) AS gone, (SELECT min(errands.asked_at) AS min_1
FROM errands
WHERE errands.site_id = sites.id) AS errand
FROM sites
WHERE sites.id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- site_rows.set_dues (due, again, site)
UPDATE sites SET due_at=?, again_at=? WHERE sites.id = ?;

-- url_rows.look_up (pairs)
SELECT urls.site_id, urls."key", urls.path, urls.state, urls.reason, urls.depth, urls.hops, urls.seed, urls.document_id, urls.fetch_id, urls.priority
FROM (SELECT json_extract(each_pair.value, '$[0]') AS site_id, json_extract(each_pair.value, '$[1]') AS "key"
FROM json_each(?) AS each_pair) AS pair JOIN urls ON urls.site_id = pair.site_id AND urls."key" = pair."key";

-- url_rows.insert (site_id, key, path, state, reason, depth, hops, seed, priority, first_seen, due_at)
INSERT INTO urls (site_id, "key", path, state, reason, depth, hops, seed, priority, first_seen, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- url_rows.nearer (links, redirects, order, now, site, place, text)
UPDATE urls SET state=0, reason=NULL, depth=?, hops=?, priority=?, due_at=coalesce(urls.due_at, ?) WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- url_rows.seen_again (order, site, place, text)
UPDATE urls SET priority=? WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ? AND urls.state = 0;

-- url_rows.any ()
SELECT urls."key"
FROM urls
 LIMIT 1 OFFSET 0;

-- seed_rows.insert (url, site_id, via, first_seen)
INSERT INTO seeds (url, site_id, via, first_seen) VALUES (?, ?, ?, ?);

-- seed_rows.present (urls)
SELECT seeds.url
FROM seeds
WHERE seeds.url IN (SELECT each_urls.value
FROM json_each(?) AS each_urls);

-- seed_rows.mark (site, place, text)
UPDATE urls SET depth=0, hops=0, seed=1, priority=0 WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- seed_rows.ask_again (now, site, place, text)
UPDATE urls SET state=0, reason=NULL, depth=0, hops=0, seed=1, priority=0, due_at=?, tries=0 WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- seed_rows.origins (ids)
SELECT sites.id, sites.scheme, sites.host, sites.port
FROM sites
WHERE sites.id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- histories.of (pairs)
SELECT urls.site_id, urls."key", urls.checks, urls.changes, urls.changed_at, urls.first_seen, urls.checked_at, urls.confirmed_at, urls.due_at, urls.change_weight, urls.change_span, urls.change_restless, urls.lastmod, urls.lastmod_read
FROM (SELECT json_extract(each_pair.value, '$[0]') AS site_id, json_extract(each_pair.value, '$[1]') AS "key"
FROM json_each(?) AS each_pair) AS pair JOIN urls ON urls.site_id = pair.site_id AND urls."key" = pair."key";

-- histories.page (site, after, most)
SELECT urls.site_id, urls."key", urls.state, urls.checks, urls.changes, urls.changed_at, urls.first_seen, urls.checked_at, urls.confirmed_at, urls.due_at, urls.change_weight, urls.change_span, urls.change_restless, urls.lastmod, urls.lastmod_read
FROM urls
WHERE (urls.site_id, urls."key") > (?, ?) AND (urls.fetch_id IS NOT NULL OR urls.state = 1) AND urls.path NOT LIKE '%#%' ORDER BY urls.site_id, urls."key"
 LIMIT ? OFFSET 0;

-- histories.set_due (due, site, place)
UPDATE urls SET due_at=? WHERE urls.site_id = ? AND urls."key" = ?;

-- page_batch.insert (site_id, key, path, reason, depth, hops, seed, priority, first_seen, due_at, status, checked_at, etag, modified, document_id, fetch_id, checks, changes, changed_at, confirmed_at)
INSERT INTO urls (site_id, "key", path, state, reason, depth, hops, seed, priority, first_seen, due_at, status, checked_at, etag, modified, document_id, fetch_id, checks, changes, changed_at, confirmed_at) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- page_batch.update (new_reason, new_depth, new_hops, new_seed, new_priority, new_due_at, new_status, new_checked_at, new_etag, new_modified, new_document_id, new_fetch_id, new_checks, new_changes, new_changed_at, new_confirmed_at, new_change_weight, new_change_span, new_change_restless, its_site_id, its_key, its_path)
UPDATE urls SET state=1, reason=?, depth=?, hops=?, seed=?, priority=?, due_at=?, tries=0, status=?, checked_at=?, etag=?, modified=?, document_id=?, fetch_id=?, checks=?, changes=?, changed_at=?, confirmed_at=?, change_weight=?, change_span=?, change_restless=?, detail=NULL WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- page_batch.confirm (due, answer, at, new_etag, new_modified, again_at, new_change_weight, new_change_span, new_change_restless, its_site_id, its_key, its_path)
UPDATE urls SET state=1, reason=NULL, due_at=?, tries=0, status=?, checked_at=?, etag=coalesce(nullif(?, ''), urls.etag), modified=coalesce(nullif(?, ''), urls.modified), checks=(urls.checks + 1), confirmed_at=?, change_weight=?, change_span=?, change_restless=?, detail=NULL WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- page_batch.mark_seed (its_site_id, its_key, its_path)
UPDATE urls SET seed=1 WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- page_batch.count (more_urls, more_pages, more_bytes, site)
UPDATE sites SET urls=(sites.urls + ?), pages=(sites.pages + ?), bytes=(sites.bytes + ?) WHERE sites.id = ?;

-- lastmod_rows.trust_of (site)
SELECT sites.lastmod_trust
FROM sites
WHERE sites.id = ?;

-- lastmod_rows.set_trust (trust, site)
UPDATE sites SET lastmod_trust=? WHERE sites.id = ?;

-- lastmod_rows.note (due, said, read, site, place)
UPDATE urls SET due_at=?, lastmod=?, lastmod_read=? WHERE urls.site_id = ? AND urls."key" = ? AND urls.state = 1;

-- document_rows.by_df (dfs)
SELECT documents.sha256, documents.id
FROM documents
WHERE documents.df IN (SELECT each_dfs.value
FROM json_each(?) AS each_dfs);

-- document_rows.insert (id, df, sha256, length, media_type, charset, title, language, similarity, body)
INSERT INTO documents (id, df, sha256, length, media_type, charset, title, language, similarity, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- document_rows.insert_links (document_id, content)
INSERT INTO links (document_id, content) VALUES (?, ?);

-- document_rows.insert_summary (document_id, content)
INSERT INTO summaries (document_id, content) VALUES (?, ?);

-- document_rows.insert_fetch (id, site_id, key, at, status, address, headers, redirect, document_id, sha256, length)
INSERT INTO fetches (id, site_id, "key", at, status, address, headers, redirect, document_id, sha256, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- document_rows.history (pairs)
SELECT fetches.site_id, fetches."key", fetches.id, fetches.document_id
FROM (SELECT json_extract(each_pair.value, '$[0]') AS site_id, json_extract(each_pair.value, '$[1]') AS "key"
FROM json_each(?) AS each_pair) AS pair JOIN fetches ON fetches.site_id = pair.site_id AND fetches."key" = pair."key" ORDER BY fetches.id DESC;

-- document_rows.unreferenced (ids)
SELECT documents.id
FROM documents
WHERE documents.id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) AND NOT (EXISTS (SELECT *
FROM fetches
WHERE fetches.document_id = documents.id));

-- document_rows.delete (document)
DELETE FROM documents WHERE documents.id = ?;

-- document_rows.delete_summary (document)
DELETE FROM summaries WHERE summaries.document_id = ?;

-- document_rows.delete_links (document)
DELETE FROM links WHERE links.document_id = ?;

-- document_rows.delete_fetch (fetch)
DELETE FROM fetches WHERE fetches.id = ?;

-- document_rows.delete_tvi (fetch)
DELETE FROM tvis WHERE tvis.fetch_id = ?;

-- document_rows.delete_learned (fetch)
DELETE FROM learned WHERE learned.fetch_id = ?;

-- document_rows.delete_volatile (fetch)
DELETE FROM volatile WHERE volatile.fetch_id = ?;

-- version_rows.of (ids)
SELECT fetches.id, fetches.redirect, fetches.sha256, fetches.length, fetches.document_id, tvis.fetch_id AS tvi, learned.skeleton_sha256, learned.content
FROM fetches LEFT OUTER JOIN tvis ON tvis.fetch_id = fetches.id LEFT OUTER JOIN learned ON learned.fetch_id = fetches.id
WHERE fetches.id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- version_rows.with_table (pairs)
SELECT urls.site_id, urls."key", urls.fetch_id, urls.document_id, fetches.sha256, length(documents.body) AS size, documents.media_type, documents.charset, fetches.headers, tvis.etag, tvis.modified, tvis.refresh, tvis.merges
FROM (SELECT json_extract(each_pair.value, '$[0]') AS site_id, json_extract(each_pair.value, '$[1]') AS "key"
FROM json_each(?) AS each_pair) AS pair JOIN urls ON urls.site_id = pair.site_id AND urls."key" = pair."key" JOIN tvis ON tvis.fetch_id = urls.fetch_id JOIN fetches ON fetches.id = urls.fetch_id JOIN documents ON documents.id = urls.document_id;

-- version_rows.document (document)
SELECT documents.body, documents.length
FROM documents
WHERE documents.id = ?;

-- version_rows.regions (fetch)
SELECT volatile.id, volatile."offset", volatile.length, volatile.content
FROM volatile
WHERE volatile.fetch_id = ? ORDER BY volatile.region;

-- version_rows.users (document, most)
SELECT fetches.id
FROM fetches
WHERE fetches.document_id = ?
 LIMIT ? OFFSET 0;

-- version_rows.insert_volatile (fetch_id, region, offset, content, id, length)
INSERT INTO volatile (fetch_id, region, "offset", content, id, length) VALUES (?, ?, ?, ?, ?, ?);

-- version_rows.move (document, fetch)
UPDATE fetches SET document_id=? WHERE fetches.id = ?;

-- version_rows.insert_tvi (fetch_id, etag, modified, refresh, merges)
INSERT INTO tvis (fetch_id, etag, modified, refresh, merges) VALUES (?, ?, ?, ?, ?);

-- version_rows.learned (ids)
SELECT learned.fetch_id, fetches.document_id, fetches.length, learned.skeleton_sha256, learned.content
FROM learned JOIN fetches ON fetches.id = learned.fetch_id
WHERE learned.fetch_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- version_rows.insert_learned (fetch_id, skeleton_sha256, content)
INSERT INTO learned (fetch_id, skeleton_sha256, content) VALUES (?, ?, ?);

-- bad_batch.insert (site_id, key, path, state, reason, depth, hops, seed, priority, first_seen, due_at, tries, status, checked_at, detail)
INSERT INTO urls (site_id, "key", path, state, reason, depth, hops, seed, priority, first_seen, due_at, tries, status, checked_at, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- bad_batch.update (new_state, new_reason, new_due_at, new_tries, new_status, new_checked_at, new_detail, its_site_id, its_key, its_path)
UPDATE urls SET state=?, reason=?, due_at=?, tries=?, status=?, checked_at=?, detail=? WHERE urls.site_id = ? AND urls."key" = ? AND urls.path = ?;

-- bad_batch.blank (site)
UPDATE sites SET addresses='', addresses_expire=0 WHERE sites.id = ?;

-- errand_rows.set_robots (status, text, fetched_at, expires_at, detail, failing_since, delay, until, site)
UPDATE sites SET robots_status=?, robots_text=?, robots_fetched_at=?, robots_expires_at=?, robots_detail=?, robots_failing_since=?, robots_delay=?, errand_until=? WHERE sites.id = ?;

-- errand_rows.set_unread_robots (status, fetched_at, expires_at, detail, failing_since, until, site)
UPDATE sites SET robots_status=?, robots_fetched_at=?, robots_expires_at=?, robots_detail=?, robots_failing_since=CASE WHEN (sites.robots_failing_since > 0) THEN sites.robots_failing_since ELSE ? END, errand_until=? WHERE sites.id = ?;

-- errand_rows.set_augmentation (offers, site)
UPDATE sites SET augmentation=? WHERE sites.id = ?;

-- errand_rows.last_copy (site)
SELECT sites.robots_text, sites.robots_failing_since, sites.robots_delay
FROM sites
WHERE sites.id = ?;

-- errand_rows.delete (site)
DELETE FROM errands WHERE errands.asker = ?;

-- errand_rows.insert (asker, site_id, path, hops, asked_at)
INSERT INTO errands (asker, site_id, path, hops, asked_at) VALUES (?, ?, ?, ?, ?);

-- errand_rows.of_sites (ids)
SELECT errands.site_id, errands.asker, errands.path, errands.hops
FROM errands
WHERE errands.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids) ORDER BY errands.asked_at;

-- errand_rows.of_asker (site)
SELECT errands.site_id, errands.path, errands.hops
FROM errands
WHERE errands.asker = ?;

-- leases.due (now, most)
SELECT sites.due_at, sites.id
FROM sites
WHERE sites.visit IS NULL AND sites.due_at IS NOT NULL AND sites.due_at <= ? ORDER BY sites.due_at
 LIMIT ? OFFSET 0;

-- leases.again (before, now, now, most)
SELECT sites.again_at, sites.id
FROM sites
WHERE sites.visit IS NULL AND sites.again_at IS NOT NULL AND sites.again_at < ? AND sites.not_before <= ? AND sites.errand_until <= ? ORDER BY sites.again_at
 LIMIT ? OFFSET 0;

-- leases.next_due ()
SELECT sites.due_at, sites.id
FROM sites
WHERE sites.visit IS NULL AND sites.due_at IS NOT NULL ORDER BY sites.due_at
 LIMIT 1 OFFSET 0;

-- leases.next_again (before)
SELECT sites.again_at, sites.id
FROM sites
WHERE sites.visit IS NULL AND sites.again_at IS NOT NULL AND sites.again_at >= ? ORDER BY sites.again_at
 LIMIT 1 OFFSET 0;

-- leases.next_spared (before)
SELECT min(CASE WHEN (sites.not_before > sites.errand_until) THEN sites.not_before ELSE sites.errand_until END) AS min_1
FROM sites
WHERE sites.visit IS NULL AND sites.again_at IS NOT NULL AND sites.again_at < ?;

-- leases.details (ids)
SELECT sites.id, sites.scheme, sites.host, sites.port, sites.in_scope, sites.urls, sites.pages, sites.addresses, sites.addresses_expire, sites.failures, sites.augmentation, sites.guards, sites.errand_until, sites.robots_status, sites.robots_text, sites.robots_fetched_at, sites.robots_expires_at, sites.robots_detail, sites.robots_failing_since, sites.robots_delay
FROM sites
WHERE sites.id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- leases.take (new_visit, site)
UPDATE sites SET visit=? WHERE sites.id = ?;

-- leases.assign (address, site, its_visit)
UPDATE sites SET visit_address=? WHERE sites.id = ? AND sites.visit = ?;

-- leases.give_back (new_addresses, new_addresses_expire, new_guards, new_not_before, new_failures, new_reason, more, site, its_visit)
UPDATE sites SET addresses=?, addresses_expire=?, guards=?, not_before=?, failures=?, reason=?, visit=NULL, visit_address='', requests=(sites.requests + ?) WHERE sites.id = ? AND sites.visit = ?;

-- leases.orphan (until, until, new_failures, site, its_visit)
UPDATE sites SET not_before=CASE WHEN (sites.not_before > ?) THEN sites.not_before ELSE ? END, failures=?, visit=NULL, visit_address='' WHERE sites.id = ? AND sites.visit = ?;

-- leases.visited ()
SELECT sites.id, sites.visit, sites.host, sites.port, sites.visit_address, sites.addresses, sites.failures, sites.robots_delay
FROM sites
WHERE sites.visit IS NOT NULL;

-- due_urls.all_of (ids)
SELECT urls.site_id, urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id, urls.priority, urls.due_at
FROM urls
WHERE urls.site_id IN (SELECT each_ids.value
FROM json_each(?) AS each_ids);

-- due_urls.known (site, most)
SELECT urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id
FROM urls
WHERE urls.site_id = ? AND urls.state = 0 ORDER BY urls.priority, urls.due_at, urls."key"
 LIMIT ? OFFSET 0;

-- due_urls.failed (site, before, most)
SELECT urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id
FROM urls
WHERE urls.site_id = ? AND urls.state != 0 AND urls.state = 2 AND urls.due_at IS NOT NULL AND urls.due_at <= ? ORDER BY urls.due_at, urls."key"
 LIMIT ? OFFSET 0;

-- due_urls.stored (site, before, most)
SELECT urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id
FROM urls
WHERE urls.site_id = ? AND urls.state != 0 AND urls.state = 1 AND urls.due_at IS NOT NULL AND urls.due_at < ? ORDER BY urls.due_at, urls."key"
 LIMIT ? OFFSET 0;

-- due_urls.refused (site, before, most)
SELECT urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id
FROM urls
WHERE urls.site_id = ? AND urls.state != 0 AND urls.state = 3 AND urls.due_at IS NOT NULL AND urls.due_at < ? ORDER BY urls.due_at, urls."key"
 LIMIT ? OFFSET 0;

-- due_urls.gone (site, before, most)
SELECT urls."key", urls.path, urls.depth, urls.hops, urls.seed, urls.tries, urls.state, urls.etag, urls.modified, urls.document_id
FROM urls
WHERE urls.site_id = ? AND urls.state != 0 AND urls.state = 4 AND urls.due_at IS NOT NULL AND urls.due_at < ? ORDER BY urls.due_at, urls."key"
 LIMIT ? OFFSET 0;

-- due_urls.keys (site)
SELECT urls."key"
FROM urls
WHERE urls.site_id = ? ORDER BY urls."key";

-- pause_rows.upsert (subject, not_before, reason, failures)
INSERT INTO pauses (subject, not_before, reason, failures) VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE SET not_before = CASE WHEN (pauses.not_before > excluded.not_before) THEN pauses.not_before ELSE excluded.not_before END, reason = CASE WHEN (excluded.reason != '' OR excluded.not_before > pauses.not_before + 1) THEN excluded.reason ELSE pauses.reason END, failures = excluded.failures;

-- pause_rows.drop_over (now, long_ago)
DELETE FROM pauses WHERE pauses.not_before <= ? AND pauses.failures = 0 OR pauses.not_before <= ?;

-- pause_rows.all ()
SELECT pauses.subject, pauses.not_before, pauses.reason, pauses.failures
FROM pauses ORDER BY pauses.subject;

-- pause_rows.spare_site (until, until, new_failures, new_reason, site, its_visit)
UPDATE sites SET not_before=CASE WHEN (sites.not_before > ?) THEN sites.not_before ELSE ? END, failures=?, reason=? WHERE sites.id = ? AND sites.visit = ?;

-- run_rows.last_settings ()
SELECT runs.settings
FROM runs ORDER BY runs.id DESC
 LIMIT 1 OFFSET 0;

-- run_rows.insert (id, started_at, settings, version)
INSERT INTO runs (id, started_at, settings, version) VALUES (?, ?, ?, ?);

-- run_rows.end (new_ended_at, new_outcome, new_counts, run)
UPDATE runs SET ended_at=?, outcome=?, counts=? WHERE runs.id = ?;

-- run_rows.left ()
SELECT urls.state, count(*) AS count_1
FROM urls
WHERE urls.state IN (0, 2) GROUP BY urls.state;

-- run_rows.next_due ()
SELECT min(sites.due_at) AS min_1
FROM sites
WHERE sites.visit IS NULL;

-- run_rows.readmit (now, reasons, max_depth, max_hops)
UPDATE urls SET state=0, reason=NULL, due_at=?, tries=0 WHERE urls.state = 3 AND urls.reason IN (SELECT each_reasons.value
FROM json_each(?) AS each_reasons) AND urls.depth <= ? AND urls.hops <= ? AND urls.site_id IN (SELECT sites.id
FROM sites
WHERE sites.in_scope = 1);

-- run_rows.refuse_deep (max_depth)
UPDATE urls SET state=3, reason='depth', due_at=NULL WHERE urls.state IN (0, 2) AND urls.depth > ?;
